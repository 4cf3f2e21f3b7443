// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package expression

import (
	"slices"
	"strings"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	"k8s.io/apiserver/pkg/cel/mutation"

	"celador.io/admission/cel/internal/syntax"
)

// operations are the operations of a JSON patch (RFC 6902, section 4).
var operations = []string{"add", "copy", "move", "remove", "replace", "test"}

// checkOperations returns an issue for each JSONPatch whose op, or a branch of whose op, is a
// constant other than an operation of JSON patches, because applying it would fail. It returns nil
// if there are none.
func checkOperations(checked *cel.Ast) *cel.Issues {
	issues := syntax.NewIssues(checked)
	var check func(op ast.Expr)
	check = func(op ast.Expr) {
		if branches := syntax.Branches(op); branches != nil {
			check(branches[1])
			check(branches[2])
		} else if text, ok := syntax.Text(op); ok && !slices.Contains(operations, text) {
			issues.ReportErrorAtID(op.ID(), "unknown operation '%s' of a JSON patch: must be one of %s", text, strings.Join(operations, ", "))
		}
	}
	ast.PostOrderVisit(checked.NativeRep().Expr(), ast.NewExprVisitor(func(e ast.Expr) {
		if e.Kind() != ast.StructKind || strings.TrimPrefix(e.AsStruct().TypeName(), ".") != mutation.JSONPatchTypeName {
			return
		}
		for _, entry := range e.AsStruct().Fields() {
			if f := entry.AsStructField(); f.Name() == "op" {
				check(f.Value())
			}
		}
	}))
	return syntax.AnyIssues(issues)
}
