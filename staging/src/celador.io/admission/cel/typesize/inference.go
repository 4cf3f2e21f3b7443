// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package typesize

import (
	"strings"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/containers"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types"

	"celador.io/admission/cel/internal/syntax"
)

// An inference computes the types of an expression's subexpressions, as shapes: without the details
// that do not affect their sizes.
type inference struct {
	unifier
	functions *Overloads
	provider  types.Provider
	variables map[string]*types.Type
	// declared caches the shapes of declared types.
	declared map[*types.Type]*shape
	// locals holds the variables of the enclosing comprehensions, innermost last.
	locals []local
	// subexpressions holds the visited subexpressions whose type is not scalar, in order. scalars
	// counts the others.
	subexpressions []subexpression
	scalars        int
}

type local struct {
	name string
	*shape
}

// A subexpression is the ID and the shape of a visited subexpression.
type subexpression struct {
	id int64
	*shape
}

func (f *Overloads) newInference(env *cel.Env) *inference {
	i := &inference{
		unifier:   unifier{joined: map[[2]*shape]*shape{}},
		functions: f,
		provider:  env.CELTypeProvider(),
		variables: map[string]*types.Type{},
		declared:  map[*types.Type]*shape{},
	}
	for _, v := range env.Variables() {
		i.variables[v.Name()] = v.Type()
	}
	return i
}

// visit infers the type of a subexpression, records it, and returns its shape.
func (i *inference) visit(e ast.Expr) *shape {
	s := i.infer(e).resolve()
	if len(s.parameters) == 0 && s.kind != types.TypeParamKind {
		i.scalars++
	} else {
		i.subexpressions = append(i.subexpressions, subexpression{e.ID(), s})
	}
	return s
}

// infer returns the shape of the type of an expression. It records the operands, whose sizes Check
// bounds, and leaves recording the expression itself to visit.
func (i *inference) infer(e ast.Expr) *shape {
	switch e.Kind() {
	case ast.LiteralKind:
		if t, ok := e.AsLiteral().Type().(*types.Type); ok {
			return i.shapeOf(t)
		}
		return dynamic
	case ast.IdentKind:
		return i.ident(strings.TrimPrefix(e.AsIdent(), "."))
	case ast.SelectKind:
		return i.selection(e)
	case ast.CallKind:
		return i.callExpression(e.AsCall())
	case ast.ListKind:
		return i.list(e.AsList())
	case ast.MapKind:
		return i.mapping(e.AsMap())
	case ast.StructKind:
		return i.object(e.AsStruct())
	case ast.ComprehensionKind:
		return i.comprehension(e.AsComprehension())
	default:
		return dynamic
	}
}

func (i *inference) ident(name string) *shape {
	for at := len(i.locals) - 1; at >= 0; at-- {
		if i.locals[at].name == name {
			return i.locals[at].shape
		}
	}
	if t, ok := i.variables[name]; ok {
		return i.shapeOf(t)
	}
	if value, ok := i.provider.FindIdent(name); ok {
		if t, ok := value.(*types.Type); ok {
			return &shape{kind: types.TypeKind, parameters: []*shape{i.shapeOf(t)}}
		}
	}
	return dynamic
}

// shapeOf returns the shape of a declared type. It returns the same shape for the same pointer.
func (i *inference) shapeOf(t *types.Type) *shape {
	if s, ok := i.declared[t]; ok {
		return s
	}
	s := &shape{kind: t.Kind(), name: t.TypeName()}
	for _, parameter := range t.Parameters() {
		s.parameters = append(s.parameters, i.shapeOf(parameter))
	}
	i.declared[t] = s
	return s
}

func (i *inference) selection(e ast.Expr) *shape {
	selected := e.AsSelect()
	if operand := selected.Operand(); operand.Kind() == ast.IdentKind && !selected.IsTestOnly() {
		// A variable may have a dot in its name.
		if t, ok := i.variables[operand.AsIdent()+"."+selected.FieldName()]; ok {
			return i.shapeOf(t)
		}
	}
	s := i.field(i.visit(selected.Operand()), selected.FieldName(), false)
	if selected.IsTestOnly() {
		return boolean
	}
	return s
}

// field returns the shape of a field, which is optional if the operand or the selection is.
func (i *inference) field(operand *shape, name string, optional bool) *shape {
	operand = operand.resolve()
	if operand.optional() {
		operand, optional = operand.parameters[0].resolve(), true
	}
	value := dynamic
	switch operand.kind {
	case types.MapKind:
		value = operand.parameters[1]
	case types.StructKind:
		if field, ok := i.provider.FindStructFieldType(operand.name, name); ok {
			value = i.shapeOf(field.Type)
		}
	}
	if optional {
		return &shape{kind: types.OpaqueKind, name: optionalName, parameters: []*shape{value}}
	}
	return value
}

func (i *inference) callExpression(call ast.CallExpr) *shape {
	function, arguments := call.FunctionName(), i.visitAll(call.Args())
	if function == operators.OptSelect && len(arguments) == 2 {
		name, _ := syntax.Text(call.Args()[1])
		return i.field(arguments[0], name, true)
	}
	if !call.IsMemberFunction() {
		return i.call(function, false, arguments)
	}
	if prefix, ok := containers.ToQualifiedName(call.Target()); ok {
		// The target and the function may form a qualified function name, such as sets.contains.
		if qualified := prefix + "." + function; len(i.functions.overloads[qualified]) > 0 {
			return i.call(qualified, false, arguments)
		}
	}
	return i.call(function, true, append([]*shape{i.visit(call.Target())}, arguments...))
}

func (i *inference) visitAll(exprs []ast.Expr) []*shape {
	shapes := make([]*shape, len(exprs))
	for at, e := range exprs {
		shapes[at] = i.visit(e)
	}
	return shapes
}

// value returns the shape of a list element or map value, unwrapped if it is marked optional.
func (i *inference) value(e ast.Expr, optional bool) *shape {
	s := i.visit(e)
	if resolved := s.resolve(); optional && resolved.optional() {
		return resolved.parameters[0]
	}
	return s
}

func (i *inference) list(list ast.ListExpr) *shape {
	optional := map[int]bool{}
	for _, at := range list.OptionalIndices() {
		optional[int(at)] = true
	}
	element := unbound()
	for at, e := range list.Elements() {
		element = i.join(element, i.value(e, optional[at]))
	}
	return &shape{kind: types.ListKind, parameters: []*shape{element}}
}

func (i *inference) mapping(m ast.MapExpr) *shape {
	key, value := unbound(), unbound()
	for _, e := range m.Entries() {
		entry := e.AsMapEntry()
		key = i.join(key, i.visit(entry.Key()))
		value = i.join(value, i.value(entry.Value(), entry.IsOptional()))
	}
	return &shape{kind: types.MapKind, parameters: []*shape{key, value}}
}

func (i *inference) object(object ast.StructExpr) *shape {
	var constructed *types.Type
	if t, ok := i.provider.FindStructType(object.TypeName()); ok && len(t.Parameters()) == 1 {
		constructed = t.Parameters()[0]
	}
	for _, e := range object.Fields() {
		field := e.AsStructField()
		value := i.value(field.Value(), field.IsOptional())
		if constructed == nil {
			continue
		}
		if declared, ok := i.provider.FindStructFieldType(constructed.TypeName(), field.Name()); ok {
			i.join(i.shapeOf(declared.Type), value)
		}
	}
	if constructed == nil {
		return dynamic
	}
	return i.shapeOf(constructed)
}

func (i *inference) comprehension(c ast.ComprehensionExpr) *shape {
	elements, accumulator := i.visit(c.IterRange()).resolve(), i.visit(c.AccuInit())
	first, second := dynamic, dynamic
	switch {
	case elements.kind == types.ListKind && c.HasIterVar2():
		second = elements.parameters[0]
	case elements.kind == types.ListKind:
		first = elements.parameters[0]
	case elements.kind == types.MapKind:
		first, second = elements.parameters[0], elements.parameters[1]
	}
	depth := len(i.locals)
	i.locals = append(i.locals, local{c.AccuVar(), accumulator}, local{c.IterVar(), first})
	if c.HasIterVar2() {
		i.locals = append(i.locals, local{c.IterVar2(), second})
	}
	i.visit(c.LoopCondition())
	i.join(accumulator, i.visit(c.LoopStep()))
	i.locals = i.locals[:depth+1]
	result := i.visit(c.Result())
	i.locals = i.locals[:depth]
	return result
}
