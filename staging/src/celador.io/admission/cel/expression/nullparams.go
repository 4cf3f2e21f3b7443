// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package expression

import (
	"errors"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types"

	"celador.io/admission/cel/internal/syntax"
)

// nullParamsError is the error of an expression that reads a field of 'params' although the binding
// selects none. cel-go says "no such key" there, which does not tell it from a param without the
// field.
type nullParamsError struct{ cause error }

// Error implements error.
func (*nullParamsError) Error() string { return "params is null: the binding has no paramRef" }

// Unwrap returns cel-go's error.
func (e *nullParamsError) Unwrap() error { return e.cause }

// paramFields returns, by the ID of a subexpression, the first field or key of 'params' that it
// reads: data for each of params, params.data and params.data.limit. cel-go's errors have one of
// these IDs.
func paramFields(checked ast.Expr) map[int64]string {
	names := map[int64]string{}
	ast.PostOrderVisit(checked, ast.NewExprVisitor(func(e ast.Expr) {
		if branches := syntax.Branches(e); branches != nil {
			// cel-go gives an error in a branch the ID of the conditional, so the conditional gets
			// the name that a branch reads from 'params'. It gets none if the other branch reads
			// the same name, perhaps from another value, because the error may concern that value.
			first, second := branches[1], branches[2]
			if name, found := names[first.ID()]; found && !selects(second, name) {
				names[e.ID()] = name
			} else if name, found := names[second.ID()]; found && !selects(first, name) {
				names[e.ID()] = name
			}
			return
		}
		operand, name, ok := selection(e)
		if !ok {
			return
		}
		if syntax.IsIdent(operand, Params) {
			names[operand.ID()], names[e.ID()] = name, name
		} else if first, found := names[operand.ID()]; found {
			names[e.ID()] = first
		}
	}))
	if len(names) == 0 {
		return nil // most programs keep no map in memory
	}
	return names
}

// selects reports whether an expression selects the given name from any value.
func selects(in ast.Expr, name string) bool {
	return syntax.Contains(in, func(e ast.Expr) bool {
		_, selected, ok := selection(e)
		return ok && selected == name
	})
}

// selection returns, for a selection or an index, its operand and the field or key that it reads.
// name is empty if the key is computed. ok is false for other expressions.
func selection(e ast.Expr) (operand ast.Expr, name string, ok bool) {
	switch e.Kind() {
	case ast.SelectKind:
		return e.AsSelect().Operand(), e.AsSelect().FieldName(), true
	case ast.CallKind:
		call := e.AsCall()
		switch call.FunctionName() {
		case operators.Index, operators.OptIndex, operators.OptSelect:
			name, _ = syntax.Text(call.Args()[1])
			return call.Args()[0], name, true
		}
	}
	return nil, "", false
}

// explain returns err, the error of an evaluation. If the evaluation failed because 'params' is
// null, it returns a nullParamsError instead, which says so.
func (p *Program) explain(s *Series, err error) error {
	var failed *types.Err
	if len(p.paramFields) == 0 || !errors.As(err, &failed) {
		return err
	}
	if value, found := s.ResolveName(Params); !found || value != nil && value != types.NullValue {
		return err
	}
	if name, found := p.paramFields[failed.NodeID()]; found && failed.Error() == "no such key: "+name {
		return &nullParamsError{err}
	}
	return err
}
