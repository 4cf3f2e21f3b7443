// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package expression

import (
	"strings"
	"sync"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"k8s.io/apiserver/pkg/cel/environment"

	"celador.io/admission/cel/internal/syntax"
	"celador.io/admission/cel/parser"
)

// RequestTime is the field of 'request' with the time at which the server received the request.
const RequestTime = "time"

// storedSyntax parses what stored expressions may contain.
var storedSyntax = sync.OnceValues(func() (*parser.Parser, error) {
	env, err := parser.BoundMacros(environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion()).StoredExpressionsEnv())
	if err != nil {
		return nil, err
	}
	return parser.New(env), nil
})

// ReadsRequestTime reports whether an expression selects request.time. It does not find reads of
// dynamic values, such as dyn(request).time. Expressions that cannot be parsed read nothing.
func ReadsRequestTime(source string) bool {
	if !strings.Contains(source, Request) || !strings.Contains(source, RequestTime) {
		return false
	}
	p, err := storedSyntax()
	if err != nil {
		return false
	}
	parsed, issues := p.Parse(source)
	if issues.Err() != nil {
		return false
	}
	return readsRequestTime(parsed.NativeRep().Expr(), false)
}

// readsRequestTime is ReadsRequestTime for a part of an expression. shadowed is set if the part is
// in the scope of a macro's variable with the name 'request'.
func readsRequestTime(e ast.Expr, shadowed bool) bool {
	isRequest := func(operand ast.Expr) bool {
		return syntax.IsIdent(operand, "."+Request) || !shadowed && syntax.IsIdent(operand, Request)
	}
	anyOf := func(shadowed bool, parts ...ast.Expr) bool {
		for _, part := range parts {
			if readsRequestTime(part, shadowed) {
				return true
			}
		}
		return false
	}
	switch e.Kind() {
	case ast.SelectKind:
		selected := e.AsSelect()
		return selected.FieldName() == RequestTime && isRequest(selected.Operand()) || anyOf(shadowed, selected.Operand())
	case ast.CallKind:
		if args := syntax.Args(e, operators.OptSelect, 2); args != nil && isRequest(args[0]) {
			if name, _ := syntax.Text(args[1]); name == RequestTime {
				return true
			}
		}
		call := e.AsCall()
		return call.IsMemberFunction() && anyOf(shadowed, call.Target()) || anyOf(shadowed, call.Args()...)
	case ast.ComprehensionKind:
		c := e.AsComprehension()
		inner := shadowed || c.IterVar() == Request || c.IterVar2() == Request || c.AccuVar() == Request
		return anyOf(shadowed, c.IterRange(), c.AccuInit()) || anyOf(inner, c.LoopCondition(), c.LoopStep()) ||
			anyOf(shadowed || c.AccuVar() == Request, c.Result())
	}
	return anyOf(shadowed, syntax.Parts(e)...)
}
