// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package expression

import (
	"strings"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types"
	plugincel "k8s.io/apiserver/pkg/admission/plugin/cel"

	"celador.io/admission/cel/internal/syntax"
)

// RequestTime is the field of 'request' with the time at which the server received the request.
const RequestTime = "time"

var requestType = plugincel.BuildRequestType().TypeName()

// MayReadRequestTime reports whether an expression can read request.time, by its text alone, so
// that most expressions need not be compiled to find out. A variable of a policy never has the type
// of 'request', so each expression that reads request.time contains both names.
func MayReadRequestTime(source string) bool {
	return strings.Contains(source, Request) && strings.Contains(source, RequestTime)
}

// readsRequestTime reports whether an expression selects, tests or sets the field RequestTime of a
// value with the type of 'request'. It decides by the checked types, because 'request' can reach
// a selection in many ways, such as through an item of a list or the variable of a macro.
func readsRequestTime(checked *ast.AST) bool {
	isRequest := func(e ast.Expr) bool {
		t := checked.GetType(e.ID())
		if syntax.IsOptional(t) && len(t.Parameters()) == 1 {
			t = t.Parameters()[0]
		}
		return t.Kind() == types.StructKind && t.TypeName() == requestType
	}
	return syntax.Contains(checked.Expr(), func(e ast.Expr) bool {
		switch e.Kind() {
		case ast.SelectKind:
			return e.AsSelect().FieldName() == RequestTime && isRequest(e.AsSelect().Operand())
		case ast.CallKind:
			if args := syntax.Args(e, operators.OptSelect, 2); args != nil {
				name, _ := syntax.Text(args[1])
				return name == RequestTime && isRequest(args[0])
			}
		case ast.StructKind:
			for _, field := range e.AsStruct().Fields() {
				if field.AsStructField().Name() == RequestTime && isRequest(e) {
					return true
				}
			}
		}
		return false
	})
}
