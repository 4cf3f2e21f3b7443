// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package reads determines which parts of its variables a checked expression reads.
package reads

import (
	"maps"
	"slices"
	"strings"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"

	"celador.io/admission/cel/internal/syntax"
)

// Entry is the element of a path that stands for every list item, and for every map value with a
// computed key.
const Entry = "[*]"

// A Read is a part of a variable that an expression reads.
type Read struct {
	// Path names the part. It begins with the path that Of was given for the variable, and leads
	// from there to the part: its elements are names of fields as the expression spells them,
	// constant keys of maps, and Entry for list items and other map values.
	Path []string
	// Whole is set if the result may depend on everything in the value. Otherwise it depends only
	// on the size of the value, or on whether the value is set or null.
	Whole bool
}

// An Analysis describes what an expression reads.
type Analysis struct {
	// Reads holds the parts of variables that the result may depend on, those that shared variables
	// read last. It may hold parts that the expression does not read, but lacks none that it does.
	Reads []Read
	// Result holds the paths of the parts that the expression passes on: the result is one of them,
	// an optional of one, or a list or map with the same items.
	Result [][]string
	// own holds the parts that are read to compute the result. It leaves out the parts that the
	// expression only passes on (Result): if the expression defines a shared variable, those that
	// read the variable record which of these parts they read.
	own []Read
	// uses holds the shared expressions that the expression reads, directly or through others.
	uses []*Analysis
}

// Of analyzes a checked expression. roots maps the names of the variables whose reads are returned
// to the paths with which these reads begin. shared holds the analyses of variables that other
// expressions define, by the names of the variables: an expression that reads such a variable reads
// what its definition reads. These names contain a dot, so that no other variable has them.
func Of(checked ast.Expr, roots map[string][]string, shared map[string]*Analysis) Analysis {
	variables := map[string][][]string{}
	for name, path := range roots {
		variables[name] = [][]string{path}
	}
	r := &reader{roots: maps.Clone(variables), variables: variables, shared: shared}
	r.Result = r.parts(checked)
	r.own = slices.Clip(r.Reads)
	r.record(r.Result, true)
	for _, used := range r.uses {
		r.Reads = append(r.Reads, used.own...)
	}
	return r.Analysis
}

// reader collects reads from a checked expression.
type reader struct {
	Analysis
	// roots holds the paths of the variables whose reads are returned. A name with a leading dot
	// refers to them even where the variable of a macro has the same name.
	roots map[string][][]string
	// variables holds, for each variable in scope, the paths of the parts that its value may be.
	variables map[string][][]string
	// shared holds the analyses of variables that other expressions define.
	shared map[string]*Analysis
}

// consume records that the value of an expression is read as a whole.
func (r *reader) consume(expressions ...ast.Expr) {
	for _, e := range expressions {
		r.record(r.parts(e), true)
	}
}

func (r *reader) record(parts [][]string, whole bool) {
	for _, path := range parts {
		r.Reads = append(r.Reads, Read{Path: path, Whole: whole})
	}
}

// parts returns the parts of variables that the value of an expression may be, or that it is taken
// from, as a text that split() returns. It records what the expression reads to compute its value,
// but not the parts that it returns, which callers record if they read the value.
func (r *reader) parts(e ast.Expr) [][]string {
	switch e.Kind() {
	case ast.IdentKind:
		if found, ok := r.shared[e.AsIdent()]; ok {
			return r.use(found)
		}
		if root, ok := strings.CutPrefix(e.AsIdent(), "."); ok {
			return r.roots[root]
		}
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
	case ast.ComprehensionKind:
		return r.comprehension(e.AsComprehension())
	}
	r.consume(syntax.Parts(e)...)
	return nil
}

// use records that the expression reads a shared variable, and returns the parts that the value of
// the variable may be.
func (r *reader) use(shared *Analysis) [][]string {
	for _, used := range append([]*Analysis{shared}, shared.uses...) {
		if !slices.Contains(r.uses, used) {
			r.uses = append(r.uses, used)
		}
	}
	return shared.Result
}

func (r *reader) call(c ast.CallExpr) [][]string {
	operands := syntax.Operands(c)
	switch c.FunctionName() {
	case operators.Conditional:
		r.consume(operands[0])
		return r.union(operands[1:])
	case operators.Index, operators.OptIndex, operators.OptSelect:
		parts := r.parts(operands[0])
		if key, ok := syntax.Text(operands[1]); ok {
			return extend(parts, key)
		}
		r.consume(operands[1])
		return extend(parts, Entry)
	case "split", "trim", "substring", "upperAscii", "lowerAscii", "charAt":
		// A result is a piece of the text, so an expression that reads it reads the parts from
		// which the text comes. The functions themselves read all of the text, so these parts count
		// as read as a whole even if the expression uses only the size of a result.
		parts := r.parts(operands[0])
		r.record(parts, true)
		r.consume(operands[1:]...)
		return parts
	case "slice":
		r.consume(operands[1:]...)
		return r.parts(operands[0])
	case "first", "last":
		return extend(r.parts(operands[0]), Entry)
	case operators.Equals, operators.NotEquals:
		if !syntax.IsNull(operands[0]) && !syntax.IsNull(operands[1]) {
			break
		}
		fallthrough
	case "size", "hasValue":
		for _, operand := range operands {
			r.record(r.parts(operand), false)
		}
		return nil
	case "distinct", "sort":
		// The size of the result, or the error, depends on the items.
		parts := r.union(operands)
		r.record(parts, true)
		return parts
	case "dyn", "optional.of", "optional.ofNonZeroValue", "value", "or", "orValue", "reverse":
		// The result is the value itself, or a list of the same items in another order.
		return r.union(operands)
	}
	r.consume(operands...)
	return nil
}

// maxParts bounds the parts that one value stands for: nested variables and conditionals could
// double them at each level.
const maxParts = 64

// union returns the parts that the values of the expressions may be. If there are too many, it
// records that all are read as a whole, and returns none.
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
	initial := r.parts(c.AccuInit())
	// The value that cel.bind() binds is evaluated even if nothing reads the variable.
	r.record(initial, false)
	outer := r.variables
	r.variables = maps.Clone(outer)
	r.variables[c.AccuVar()] = initial
	inResult := maps.Clone(r.variables)               // without the iteration variables
	r.variables[c.IterVar()] = extend(entries, Entry) // with two variables, the key of a map
	if c.HasIterVar2() {
		r.variables[c.IterVar2()] = r.variables[c.IterVar()]
	}
	// The step of cel.bind() is the variable, but is never evaluated.
	if !syntax.IsIdent(c.LoopStep(), c.AccuVar()) {
		r.consume(c.LoopCondition(), c.LoopStep())
	}
	r.variables = inResult
	result := r.parts(c.Result())
	r.variables = outer
	return result
}

func extend(parts [][]string, step string) [][]string {
	next := make([][]string, len(parts))
	for i, path := range parts {
		next[i] = append(slices.Clip(path), step)
	}
	return next
}
