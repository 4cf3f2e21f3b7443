// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package schemaexpression

import (
	"slices"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types"
)

// Entry is the step in a Read's path for every list item and every map value.
const Entry = "[*]"

// A Read is a part of self that an expression reads.
type Read struct {
	// Path leads from self to the part: names of fields, as the expression spells them, keys of maps, and Entry for list
	// items and for map values with computed keys.
	Path []string
	// Whole is set if the value with everything in it may influence the result, and not only its presence or size.
	Whole bool
}

// SelfReads returns the parts of self that the result of the expression may depend on, in the order of the expression. It
// may return more than the expression reads, but not less.
func (x *Expression) SelfReads() []Read {
	checked, err := x.ast()
	if err != nil {
		return []Read{{Whole: true}}
	}
	return read(checked).reads
}

// read collects the reads of a checked expression.
func read(checked *cel.Ast) *reader {
	r := &reader{variables: map[string][][]string{Self: {nil}}, computed: map[string]bool{}, origins: map[int64]origin{}}
	r.consume(checked.NativeRep().Expr())
	return r
}

// An origin says where the value of an expression comes from.
type origin struct {
	// parts are the parts of self that the value is, or is an optional of, or that lists have the same items as.
	parts [][]string
	// computed is set for a variable whose value comes out of a function.
	computed bool
}

// reader collects reads from a checked expression.
type reader struct {
	reads []Read
	// variables holds the parts of self that the variables in scope stand for.
	variables map[string][][]string
	// computed holds the variables in scope whose values come out of functions.
	computed map[string]bool
	// origins holds the origins of the values of all expressions by their IDs.
	origins map[int64]origin
}

// consume records that the value of an expression is read as a whole.
func (r *reader) consume(expressions ...ast.Expr) {
	for _, e := range expressions {
		r.record(r.parts(e), true)
	}
}

func (r *reader) record(parts [][]string, whole bool) {
	for _, path := range parts {
		r.reads = append(r.reads, Read{Path: path, Whole: whole})
	}
}

// parts returns the parts of self that the value of an expression stands for. It records what the expression reads to
// compute its value, but not the parts that it returns.
func (r *reader) parts(e ast.Expr) [][]string {
	parts := r.find(e)
	isVariable := e.Kind() == ast.IdentKind
	r.origins[e.ID()] = origin{parts: parts, computed: isVariable && r.computed[e.AsIdent()]}
	return parts
}

func (r *reader) find(e ast.Expr) [][]string {
	switch e.Kind() {
	case ast.IdentKind:
		return r.variables[e.AsIdent()]
	case ast.SelectKind:
		selected := e.AsSelect()
		parts := extend(r.parts(selected.Operand()), selected.FieldName())
		if selected.IsTestOnly() {
			r.record(parts, false)
			return nil
		}
		return parts
	case ast.CallKind:
		return r.call(e.AsCall())
	case ast.ListKind:
		r.consume(e.AsList().Elements()...)
	case ast.MapKind:
		for _, entry := range e.AsMap().Entries() {
			r.consume(entry.AsMapEntry().Key(), entry.AsMapEntry().Value())
		}
	case ast.StructKind:
		for _, field := range e.AsStruct().Fields() {
			r.consume(field.AsStructField().Value())
		}
	case ast.ComprehensionKind:
		return r.comprehension(e.AsComprehension())
	}
	return nil
}

func (r *reader) call(c ast.CallExpr) [][]string {
	operands := c.Args()
	if c.IsMemberFunction() {
		operands = append([]ast.Expr{c.Target()}, operands...)
	}
	switch c.FunctionName() {
	case operators.Conditional:
		r.consume(operands[0])
		return r.union(operands[1:])
	case operators.Index, operators.OptIndex, operators.OptSelect:
		parts := r.parts(operands[0])
		if key, ok := constant(operands[1]); ok {
			return extend(parts, key)
		}
		r.consume(operands[1])
		return extend(parts, Entry)
	case "split", "trim", "substring", "upperAscii", "lowerAscii", "charAt":
		// The results are no longer than the text. The parts say where they come from; the text is read either way.
		parts := r.parts(operands[0])
		r.record(parts, true)
		r.consume(operands[1:]...)
		return parts
	case "slice":
		r.consume(operands[1:]...)
		return r.parts(operands[0])
	case "first", "last":
		return extend(r.parts(operands[0]), Entry)
	case "size", "hasValue":
		for _, operand := range operands {
			r.record(r.parts(operand), false)
		}
		return nil
	case "dyn", "optional.of", "optional.ofNonZeroValue", "value", "or", "orValue", "distinct", "reverse", "sort":
		// The items of a list in another order.
		return r.union(operands)
	}
	r.consume(operands...)
	return nil
}

// maxParts bounds the parts that one value stands for: nested variables and conditionals could double them at each level.
const maxParts = 64

// union returns the parts that the values of the expressions stand for. If there are too many, it records that all
// are read as a whole.
func (r *reader) union(expressions []ast.Expr) [][]string {
	var parts [][]string
	for _, e := range expressions {
		parts = append(parts, r.parts(e)...)
	}
	if len(parts) > maxParts {
		r.record(parts, true)
		return nil
	}
	return parts
}

func (r *reader) comprehension(c ast.ComprehensionExpr) [][]string {
	entries := r.parts(c.IterRange())
	r.record(entries, false)
	bound := map[string][][]string{c.AccuVar(): r.parts(c.AccuInit())}
	if c.HasIterVar2() {
		bound[c.IterVar()], bound[c.IterVar2()] = nil, extend(entries, Entry)
	} else {
		bound[c.IterVar()] = extend(entries, Entry)
	}
	shadowed, shadowedComputed := map[string][][]string{}, map[string]bool{}
	for name, parts := range bound {
		shadowed[name], shadowedComputed[name] = r.variables[name], r.computed[name]
		source := c.IterRange()
		if name == c.AccuVar() {
			source = c.AccuInit()
		}
		r.variables[name] = parts
		r.computed[name] = source.Kind() != ast.LiteralKind && source.Kind() != ast.ListKind && source.Kind() != ast.MapKind
	}
	// The step of cel.bind is the variable itself, which does not read it.
	if step := c.LoopStep(); step.Kind() != ast.IdentKind || step.AsIdent() != c.AccuVar() {
		r.consume(c.LoopCondition(), step)
	}
	// The iteration variables are not in scope in the result.
	for name, parts := range shadowed {
		if name != c.AccuVar() {
			r.variables[name], r.computed[name] = parts, shadowedComputed[name]
		}
	}
	result := r.parts(c.Result())
	r.variables[c.AccuVar()], r.computed[c.AccuVar()] = shadowed[c.AccuVar()], shadowedComputed[c.AccuVar()]
	return result
}

// constant returns the field name or map key that a constant index stands for.
func constant(e ast.Expr) (string, bool) {
	if e.Kind() != ast.LiteralKind {
		return "", false
	}
	key, ok := e.AsLiteral().(types.String)
	return string(key), ok
}

func extend(parts [][]string, step string) [][]string {
	next := make([][]string, len(parts))
	for i, path := range parts {
		next[i] = append(slices.Clip(path), step)
	}
	return next
}
