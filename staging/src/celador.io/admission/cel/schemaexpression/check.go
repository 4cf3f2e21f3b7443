// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package schemaexpression

import (
	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	apiservercel "k8s.io/apiserver/pkg/cel"

	"celador.io/admission/cel/internal/programs"
	"celador.io/admission/cel/internal/syntax"
)

// A FieldChecker is a type resolver that checks the fields of constructed objects itself. cel-go
// compares object types by name, so it would not let an expression assign an object of self to a
// field of the same structure. The resolver declares such fields as dynamic and compares the
// structure here.
type FieldChecker interface {
	// CheckField returns an error, which says what to do, if a value of a static type cannot be the
	// value of a field of a constructed object. self is the type of the whole object: that of the
	// variable root if the scope declares this variable (see Root), and otherwise that of self. The
	// names of the type and of the field are those in the expression.
	CheckField(typeName, field string, value *cel.Type, self *apiservercel.DeclType) error
}

// check parses and checks an expression.
func (e *Environment) check(source string) (*cel.Ast, *apiservercel.Error) {
	env, err := e.env()
	if err != nil {
		return nil, programs.InternalError("unexpected error loading CEL environment: %v", err)
	}
	var checked *cel.Ast
	var issues *cel.Issues
	if e.scope.NullResults {
		expanded := false
		var tooLarge *cel.Issues
		checked, issues, err = checkNullResults(e.builtins, env, source, func(parsed *cel.Ast) { expanded, tooLarge = expandPresence(parsed) })
		if tooLarge != nil {
			issues = tooLarge
		} else if expanded && issues != nil {
			// The expansion of has() copies subexpressions, so an issue in one of them appears
			// several times. If the expression has issues without the expansion, return those
			// instead.
			if _, unexpanded, again := checkNullResults(e.builtins, env, source, func(*cel.Ast) {}); again == nil && unexpanded != nil {
				issues = unexpanded
			}
		}
	} else {
		checked, issues, err = e.builtins.Check(env, source, nil)
	}
	if err != nil {
		return nil, programs.InternalError("compilation failed: %v", err)
	}
	if issues == nil {
		issues = e.resolveNamespaces(checked)
	}
	if fields, ok := e.scope.Types.(FieldChecker); ok && issues == nil {
		issues = e.checkFields(fields, checked)
	}
	if issues != nil {
		return nil, programs.Invalid(issues)
	}
	return checked, nil
}

// checkFields checks the fields of the objects that a checked expression constructs.
func (e *Environment) checkFields(fields FieldChecker, checked *cel.Ast) *cel.Issues {
	native, issues := checked.NativeRep(), syntax.NewIssues(checked)
	ast.PostOrderVisit(native.Expr(), ast.NewExprVisitor(func(node ast.Expr) {
		if node.Kind() != ast.StructKind {
			return
		}
		object := node.AsStruct()
		for _, entry := range object.Fields() {
			field := entry.AsStructField()
			value := native.GetType(field.Value().ID())
			if err := fields.CheckField(object.TypeName(), field.Name(), value, e.scope.outermost()); err != nil {
				issues.ReportErrorAtID(field.Value().ID(), "%s", err.Error())
			}
		}
	}))
	return syntax.AnyIssues(issues)
}
