// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package coverage

import (
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"

	"celador.io/admission/cel/expression"
)

// An Explanation says why an expression has its value.
type Explanation struct {
	// Text is the expression, in one line.
	Text string `json:"-"`
	// Value is the value of the expression, such as false, or "an error: no such key: x".
	Value string `json:"value,omitempty"`
	// Part is the part of the expression that makes it false or an error. It is the whole
	// expression if no smaller part does.
	Part string `json:"part,omitempty"`
	// Values are the values of the parts of Part. In the body of a macro, they are those of the
	// last element that the macro read.
	Values []Value `json:"values,omitempty"`
}

// A Value is the value of a part of an expression.
type Value struct {
	// Text is the part, such as object.spec.replicas.
	Text string `json:"text"`
	// Value is its value as FormatValue returns it.
	Value string `json:"value"`
}

// maxValues is the maximum number of values in an explanation.
const maxValues = 10

// Result returns the value of the expression in an evaluation, or nil if it has none.
func (p *BranchIndex) Result(steps []expression.Step) ref.Val {
	return latestOf(steps)[p.checked.Expr().ID()]
}

// Explain explains the result of an evaluation.
func (p *BranchIndex) Explain(steps []expression.Step) Explanation {
	x := explainer{source: p.source, latest: latestOf(steps), seen: map[string]bool{}}
	root := p.checked.Expr()
	part := x.culprit(root)
	x.collect(part, part)
	return Explanation{Text: p.text(root), Value: FormatValue(x.value(root)), Part: p.text(part), Values: x.found}
}

func latestOf(steps []expression.Step) values {
	latest := values{}
	for _, step := range steps {
		latest[step.ID] = step.Value
	}
	return latest
}

type explainer struct {
	source
	latest values
	found  []Value
	seen   map[string]bool
}

func (x *explainer) value(e ast.Expr) ref.Val {
	if e.Kind() == ast.LiteralKind {
		return e.AsLiteral()
	}
	return x.latest[e.ID()]
}

// culprit returns the smallest condition in e that makes e false or an error.
func (x *explainer) culprit(e ast.Expr) ast.Expr {
	value := x.value(e)
	failed := func(part ast.Expr) bool {
		v := x.value(part)
		return v == value || types.IsError(v) && types.IsError(value)
	}
	if value == types.True || value == nil {
		return e
	}
	if macro, ok := x.macro(e); ok {
		body := macro.Args()[len(macro.Args())-1]
		if macro.FunctionName() == "all" && failed(body) {
			return x.culprit(body)
		}
		return e
	}
	if e.Kind() != ast.CallKind {
		return e
	}
	args := e.AsCall().Args()
	switch e.AsCall().FunctionName() {
	case operators.LogicalAnd:
		for _, operand := range args {
			if failed(operand) {
				return x.culprit(operand)
			}
		}
	case operators.Conditional:
		switch x.value(args[0]) {
		case types.True:
			return x.culprit(args[1])
		case types.False:
			return x.culprit(args[2])
		default:
			return x.culprit(args[0])
		}
	}
	return e
}

// collect adds the values of the variables and fields in e to the explanation of part, and if e is
// an operand of part, also the value of e. e is part or a node in it.
func (x *explainer) collect(e, part ast.Expr) {
	if x.isConstant(e) || len(x.found) >= maxValues {
		return
	}
	macro, isMacro := x.macro(e)
	switch {
	case isMacro && macro.FunctionName() == "has":
		operand := macro.Args()[0].AsSelect().Operand()
		x.collect(operand, part)
		return
	case isMacro:
		// Outside of the macro, its variables have no value.
		if macro.IsMemberFunction() {
			x.add(macro.Target())
		}
		return
	case x.isPath(e):
		x.add(e)
		return
	case e.Kind() == ast.CallKind && x.isOperand(e, part) && !x.isBool(e):
		x.add(e)
	}
	for _, p := range x.parts(e) {
		x.collect(p, part)
	}
}

// isPath reports whether e is a variable or a field of one.
func (x *explainer) isPath(e ast.Expr) bool {
	switch e.Kind() {
	case ast.IdentKind:
		return true
	case ast.SelectKind:
		return x.isPath(e.AsSelect().Operand())
	case ast.CallKind:
		switch call := e.AsCall(); call.FunctionName() {
		case operators.Index, operators.OptSelect, operators.OptIndex:
			return x.isPath(call.Args()[0])
		}
	}
	return false
}

// isOperand reports whether part is a call, such as a comparison, and e is its target or one of its
// arguments.
func (x *explainer) isOperand(e, part ast.Expr) bool {
	if part.Kind() != ast.CallKind {
		return false
	}
	for _, operand := range x.parts(part) {
		if operand.ID() == e.ID() {
			return true
		}
	}
	return false
}

// add adds the value of a part that was evaluated.
func (x *explainer) add(e ast.Expr) {
	value := x.value(e)
	text := x.text(e)
	if value == nil || x.seen[text] || x.isConstant(e) {
		return
	}
	x.seen[text] = true
	x.found = append(x.found, Value{Text: text, Value: FormatValue(value)})
}
