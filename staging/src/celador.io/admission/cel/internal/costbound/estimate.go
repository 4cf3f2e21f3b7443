// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package costbound

import (
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/google/cel-go/common"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/containers"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types"
	apiservercel "k8s.io/apiserver/pkg/cel"

	"celador.io/admission/cel/internal/syntax"
)

// SizeLimits bound the size of an object.
type SizeLimits struct {
	// Entries bounds the entries of all lists, or all maps, that one path of the schema leads to.
	Entries float64
	// Text bounds the characters of the object.
	Text float64
}

// A Scope describes the variables of an expression, and how often the expression is evaluated in
// one object: once for each value at a path such as spec.groups[*].
type Scope struct {
	// Variables are the types of the variables. A variable without a type may have any value.
	Variables map[string]*apiservercel.DeclType
	// Repetitions holds the limits that the schema declares for the sizes of the lists and maps on
	// the path, outermost first. A negative number means that the schema declares none.
	Repetitions []int64
	// Outer are the types of the variables that have one value for the whole object, such as root.
	Outer map[string]*apiservercel.DeclType
	// Shared holds the expressions that define further variables. The estimate of an expression
	// that reads these variables does not include the cost of evaluating them.
	Shared map[string]Variable
}

// A Variable is an expression that defines a variable, with the types of the variables that it
// reads.
type Variable struct {
	Checked   *ast.AST
	Variables map[string]*apiservercel.DeclType
}

// Of returns what a checked expression costs at most for all values at its scope in one object. It
// is infinite if the expression is too complex.
func Of(checked *ast.AST, scope Scope, limits SizeLimits) float64 {
	e := &estimate{AST: checked, limits: limits, variables: map[string]value{}, shared: scope.Shared, defined: map[string]value{}}
	in := limits.innermost(scope.Repetitions)
	for d := in; d != nil; d = d.parent {
		e.context = append(e.context, d)
	}
	slices.Reverse(e.context)
	for name, declared := range scope.Variables {
		e.variables[name] = value{kind: part, declared: declared, in: in}
	}
	for name, declared := range scope.Outer {
		e.variables[name] = value{kind: part, declared: declared}
	}
	_, cost := e.visit(checked.Expr())
	if e.steps > maxSteps || math.IsNaN(cost) {
		return math.Inf(1)
	}
	return math.Ceil(cost)
}

// Evaluations returns the highest number of times that an expression is evaluated in one object.
// repetitions is Scope.Repetitions of its scope.
func (l SizeLimits) Evaluations(repetitions []int64) float64 {
	if in := l.innermost(repetitions); in != nil {
		return in.total
	}
	return 1
}

// innermost returns the dimension of the innermost list or map at a scope, or nil if there is none.
func (l SizeLimits) innermost(repetitions []int64) (in *dimension) {
	for _, bound := range repetitions {
		in = within(in, bound, l.Entries)
	}
	return in
}

// maxSteps bounds the subexpressions and values that an estimate visits; beyond it, the estimate is
// infinite. A list that may have one of several values (alternatives) multiplies the work, because
// the body of a loop over it is visited for each.
const maxSteps = 1 << 16

// An estimate visits the subexpressions of one expression and adds up their costs. The cost of a
// subexpression is the sum over all of its evaluations in one object.
type estimate struct {
	*ast.AST
	limits    SizeLimits
	variables map[string]value
	// shared holds the expressions of Scope.Shared, and defined the estimates of those variables
	// that have been read.
	shared  map[string]Variable
	defined map[string]value
	// context holds the dimensions of the loops around the subexpression.
	context dimensions
	steps   int
}

// each returns the total cost of a subexpression that costs a constant number of units each time:
// once for each iteration of the loops around it.
func (e *estimate) each(units float64) float64 { return units * e.context.count() }

// visit returns the estimate of the value of a subexpression, and its cost.
func (e *estimate) visit(x ast.Expr) (value, float64) {
	if e.steps++; e.steps > maxSteps {
		return value{}, 0
	}
	switch x.Kind() {
	case ast.LiteralKind:
		return e.literal(x), 0
	case ast.IdentKind:
		return e.ident(x), e.each(common.SelectAndIdentCost)
	case ast.SelectKind:
		operand, cost := e.visit(x.AsSelect().Operand())
		cost += e.each(common.SelectAndIdentCost)
		if x.AsSelect().IsTestOnly() {
			return value{kind: scalar}, cost
		}
		return e.fieldOf(operand, x.AsSelect().FieldName()), cost
	case ast.CallKind:
		return e.call(x)
	case ast.ListKind:
		elements, cost := e.visitAll(x.AsList().Elements())
		return value{kind: made, size: constant(float64(len(elements))), entries: new(oneOf(elements...))}, cost + e.each(common.ListCreateBaseCost)
	case ast.MapKind:
		return e.mapping(x.AsMap())
	case ast.StructKind:
		fields, cost := map[string]value{}, e.each(common.StructCreateBaseCost)
		for _, entry := range x.AsStruct().Fields() {
			field := entry.AsStructField()
			v, own := e.visit(field.Value())
			fields[field.Name()], cost = v, cost+own
		}
		return value{kind: object, fields: fields}, cost
	case ast.ComprehensionKind:
		return e.comprehension(x.AsComprehension())
	default:
		return value{}, 0
	}
}

func (e *estimate) visitAll(all []ast.Expr) ([]value, float64) {
	values, cost := make([]value, len(all)), 0.0
	for i, x := range all {
		v, own := e.visit(x)
		values[i], cost = v, cost+own
	}
	return values, cost
}

func (e *estimate) literal(x ast.Expr) value {
	switch l := x.AsLiteral().(type) {
	case types.String:
		return text(constant(float64(len(l))))
	case types.Bytes:
		return text(constant(float64(len(l))))
	default:
		return value{kind: scalar}
	}
}

func (e *estimate) ident(x ast.Expr) value {
	if v, ok := e.variables[strings.TrimPrefix(x.AsIdent(), ".")]; ok {
		return v
	}
	if definition, ok := e.shared[x.AsIdent()]; ok {
		return e.define(x.AsIdent(), definition)
	}
	if e.GetType(x.ID()).Kind() == types.TypeKind {
		return value{kind: scalar}
	}
	return value{}
}

// define returns the estimate of a variable that another expression defines, without its cost: see
// Scope.Shared.
func (e *estimate) define(name string, definition Variable) value {
	if v, ok := e.defined[name]; ok {
		return v
	}
	e.defined[name] = value{} // A definition reads only variables that are defined before it.
	inner := *e
	inner.AST, inner.context, inner.variables = definition.Checked, nil, map[string]value{}
	for name, declared := range definition.Variables {
		inner.variables[name] = value{kind: part, declared: declared}
	}
	v, _ := inner.visit(definition.Checked.Expr())
	e.steps, e.defined[name] = inner.steps, v
	return v
}

func (e *estimate) mapping(m ast.MapExpr) (value, float64) {
	cost := e.each(common.MapCreateBaseCost)
	fields := map[string]value{}
	isObject := true
	var entries []value
	for _, entry := range m.Entries() {
		key := entry.AsMapEntry().Key()
		_, keyCost := e.visit(key)
		v, valueCost := e.visit(entry.AsMapEntry().Value())
		cost += keyCost + valueCost
		entries = append(entries, v)
		name, isText := syntax.Text(key)
		isObject = isObject && isText
		fields[name] = v
	}
	if isObject && len(fields) > 0 {
		return value{kind: object, fields: fields}, cost
	}
	return value{kind: made, size: constant(float64(len(entries))), entries: new(oneOf(entries...))}, cost
}

// bind sets variables, and returns a function that restores the variables before the call.
func (e *estimate) bind(bound map[string]value) (restore func()) {
	outer := e.variables
	e.variables = maps.Clone(outer)
	maps.Copy(e.variables, bound)
	return func() { e.variables = outer }
}

// comprehension returns the estimate of the value of a macro's expansion, and its cost. It assumes
// that the accumulator of the loop is a list or map to which each iteration adds an entry, or a
// value without a size.
func (e *estimate) comprehension(c ast.ComprehensionExpr) (value, float64) {
	initial, initialCost := e.visit(c.AccuInit())
	elements, cost := e.visit(c.IterRange())
	cost += initialCost
	accumulated := []value{initial}
	if !syntax.IsBinding(c) {
		for _, l := range e.loops(elements) {
			added, own := e.iteration(c, l)
			cost += own
			accumulated = append(accumulated, added...)
		}
	}
	restore := e.bind(map[string]value{c.AccuVar(): oneOf(accumulated...)})
	result, own := e.visit(c.Result())
	restore()
	return result, cost + own
}

// iteration visits the condition and the step of a loop. It returns estimates of the lists or maps
// that all iterations together add to the accumulator, and the cost of all iterations.
func (e *estimate) iteration(c ast.ComprehensionExpr, l loop) (added []value, cost float64) {
	outer := e.context
	e.context = e.context.with(l.dimension)
	bound := map[string]value{c.AccuVar(): {kind: scalar}, c.IterVar(): l.entry}
	if c.HasIterVar2() {
		bound[c.IterVar()], bound[c.IterVar2()] = l.key, l.entry
	} else if l.key.declared != nil {
		bound[c.IterVar()] = l.key // The loop has the keys of a map.
	}
	restore := e.bind(bound)
	_, conditionCost := e.visit(c.LoopCondition())
	step, cost := e.visit(c.LoopStep())
	restore()
	e.context = outer
	for _, s := range oneOf(step).each() {
		if s.kind == made && s.entries != nil {
			added = append(added, value{kind: made, size: s.size.product(size{{1, dimensions{l.dimension}}}), entries: s.entries})
		}
	}
	return added, cost + conditionCost
}

// each returns the alternatives of a value, or the value itself if it has none.
func (v value) each() []value {
	if v.kind == either {
		return v.alternatives
	}
	return []value{v}
}

func (e *estimate) call(x ast.Expr) (value, float64) {
	call := x.AsCall()
	name, operands := call.FunctionName(), syntax.Operands(call)
	if call.IsMemberFunction() {
		qualifier, ok := containers.ToQualifiedName(call.Target())
		// A target without a type is the first part of the function's name.
		_, isValue := e.TypeMap()[call.Target().ID()]
		if reference := e.ReferenceMap()[x.ID()]; ok && reference != nil && !isValue {
			name, operands = qualifier+"."+name, call.Args()
		}
	}
	if name == operators.Conditional {
		return e.conditional(operands)
	}
	arguments, cost := e.visitAll(operands)
	result, own := e.function(name, x.ID(), operands, arguments)
	return result, cost + own
}

func (e *estimate) conditional(operands []ast.Expr) (value, float64) {
	_, condition := e.visit(operands[0])
	first, firstCost := e.visit(operands[1])
	second, secondCost := e.visit(operands[2])
	result := oneOf(first, second)
	if len(e.context) == 0 {
		return result, condition + max(firstCost, secondCost)
	}
	// Some iterations may evaluate one branch and some the other.
	return result, condition + firstCost + secondCost
}
