// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package evaluator

import (
	"slices"
	"strings"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"

	"celador.io/admission/cel/internal/syntax"
	"celador.io/admission/cel/values"
)

// An attribute is a variable or another value with the selections and indexes that follow it, such
// as object.spec.containers[0]. Like cel-go's attributes, it is resolved in one step and charged at
// once.
type attribute struct {
	base closure
	// item is set if base is the iteration variable of a comprehension, whose value is in slot.
	item bool
	slot int
	// own is the cost of reading base if the attribute is evaluated by itself: 1, or 0 if base is a
	// conditional or presence is set. An attribute that is an index, or a branch of a conditional,
	// does not pay it, because cel-go does not charge it there; see nested.
	own uint64
	// selected is the cost of selections that base contains: 1 if base is variables.x, which the
	// evaluator reads as one variable, and otherwise 0.
	selected   uint64
	qualifiers []qualifier
	// presence is set in has(object.spec): the result is true if the last selection finds a value.
	presence bool
	// chained is set if the result is an optional, as of object.?spec and object.?spec.replicas.
	chained bool
}

// A qualifier is a selection or an index. If constant is nil, index evaluates the key.
type qualifier struct {
	constant ref.Val
	index    closure
	optional bool
}

// with returns the attribute with one more selection or index. The original must not be extended
// again, because both share the array of qualifiers.
func (a *attribute) with(q qualifier) *attribute {
	extended := *a
	extended.qualifiers = append(a.qualifiers, q)
	return &extended
}

// resolve returns the closure that evaluates the attribute. cost is the cost of reading base: own
// if the attribute is evaluated by itself, and 0 if it is an index or a branch of a conditional,
// because cel-go does not charge it there.
func (a *attribute) resolve(cost uint64) closure {
	if a.chained {
		return a.chain(cost)
	}
	cost += a.selected + uint64(len(a.qualifiers))
	if !a.presence {
		return a.follow(a.qualifiers, cost)
	}
	last := len(a.qualifiers) - 1
	name, parent := values.NewFieldName(a.qualifiers[last].constant.(types.String)), a.follow(a.qualifiers[:last], cost)
	return func(f *frame) ref.Val {
		value := parent(f)
		if value == nil {
			return nil
		}
		return has(value, name)
	}
}

// follow returns a closure that adds a cost, evaluates base and applies qualifiers in order. It
// evaluates the index of a qualifier only if the operand has a value: the index may read a variable
// of the policy, and cel-go does not read it then.
func (a *attribute) follow(qualifiers []qualifier, cost uint64) closure {
	base := a.base
	if cost == 0 && len(qualifiers) == 0 {
		return base
	}
	if names, ok := fields(qualifiers); ok && len(names) == 1 {
		name := names[0]
		if slot := a.slot; a.item {
			return func(f *frame) ref.Val {
				f.cost += cost
				return field(f.slots[slot], name)
			}
		}
		return func(f *frame) ref.Val {
			f.cost += cost
			return field(base(f), name)
		}
	} else if ok {
		return func(f *frame) ref.Val {
			f.cost += cost
			value := base(f)
			for _, name := range names {
				if value = field(value, name); value == nil {
					return nil
				}
			}
			return value
		}
	}
	qualifiers = slices.Clone(qualifiers)
	return func(f *frame) ref.Val {
		f.cost += cost
		value := base(f)
		for i := range qualifiers {
			if value == nil {
				return nil
			}
			key := qualifiers[i].constant
			if key == nil {
				if _, ok := value.(*types.Optional); ok {
					return nil // cel-go evaluates no index of an optional without a value
				}
				if key = qualifiers[i].index(f); key == nil {
					return nil
				}
			}
			value = at(value, key)
		}
		return value
	}
}

// fields returns the keys of qualifiers, or false if not all of them are constant strings.
func fields(qualifiers []qualifier) ([]*values.FieldName, bool) {
	names := make([]*values.FieldName, len(qualifiers))
	for i, q := range qualifiers {
		name, ok := q.constant.(types.String)
		if !ok {
			return nil, false
		}
		names[i] = values.NewFieldName(name)
	}
	return names, true
}

// field returns the value of a map for a string. It declines if there is none: it returns nil, and
// cel-go evaluates the expression.
func field(value ref.Val, name *values.FieldName) ref.Val {
	var found ref.Val
	// Most maps are structs, and testing for their type takes a fraction of the time that a test
	// for an interface takes.
	if s, ok := value.(*values.Struct); ok {
		found = s.Select(name)
	} else if m, ok := value.(traits.Mapper); ok {
		found, ok = m.Find(name.Val)
		if !ok {
			return nil
		}
	}
	return plain(found)
}

// at returns the value of a map for a key, or the element of a list at an index. If there is none,
// which is an error in CEL, it returns nil to decline, and cel-go makes the error.
func at(value, key ref.Val) ref.Val {
	found, _ := find(value, key)
	return plain(found)
}

func has(value ref.Val, name *values.FieldName) ref.Val {
	var found ref.Val
	var ok bool
	switch m := value.(type) {
	case *values.Struct:
		found = m.Select(name)
		ok = found != nil
	case traits.Mapper:
		found, ok = m.Find(name.Val)
	default:
		return nil
	}
	if types.IsUnknownOrError(found) {
		return nil
	}
	return types.Bool(ok)
}

func (p *planner) selection(e ast.Expr) node {
	if reference, ok := p.reference(e); ok {
		return p.resolved(e, reference)
	}
	selected := e.AsSelect()
	if i, ok := p.policyVariable(selected); ok {
		return node{attribute: &attribute{base: readVariable(i), own: 1, selected: 1}}
	}
	a := p.operand(selected.Operand())
	if p.isField(selected.Operand(), selected.FieldName()) {
		panic(unsupported("field of a Go type"))
	}
	a = a.with(qualifier{constant: types.String(selected.FieldName())})
	a.chained = a.chained || p.isOptional(selected.Operand())
	if selected.IsTestOnly() {
		if a.chained {
			panic(unsupported("has() of an optional"))
		}
		if a.own == 0 {
			panic(unsupported("has() of a conditional"))
		}
		a.presence, a.own = true, 0
	}
	return node{attribute: a}
}

// readVariable returns a closure that reads a variable of the policy. It declines once the
// expression has exceeded its cost limit, because cel-go has ended the evaluation by then: it would
// not read the variable, and the first read evaluates the variable and charges the budget.
func readVariable(i int) closure {
	return func(f *frame) ref.Val {
		if f.exhausted() {
			return nil
		}
		return plain(f.input.Variable(i))
	}
}

// operand plans e, the operand of a selection or an index, and returns the attribute that the
// selection or index extends.
func (p *planner) operand(e ast.Expr) *attribute {
	plan := p.plan
	if p.isPath(e) {
		plan = p.build
	}
	operand := plan(e)
	if a := operand.attribute; a != nil && !a.presence {
		return a
	}
	return &attribute{base: operand.eval, own: 1}
}

// isPath reports whether an expression is a selection or an index that extends the attribute of its
// operand. A further selection extends the attribute again, so such an expression gets no closure
// of its own while it is an operand.
func (p *planner) isPath(e ast.Expr) bool {
	switch e.Kind() {
	case ast.SelectKind:
		selected := e.AsSelect()
		if _, resolved := p.reference(e); resolved || selected.IsTestOnly() {
			return false
		}
		_, isVariable := p.policyVariable(selected)
		return !isVariable
	case ast.CallKind:
		switch e.AsCall().FunctionName() {
		case operators.Index, operators.OptIndex, operators.OptSelect:
			return true
		}
		return false
	default:
		return false
	}
}

// isField reports whether a selection or index reads a field of a Go struct that the environment
// declares as an object. Plan declines such expressions: cel-go reads the field from the struct
// itself, and closures read CEL values only.
func (p *planner) isField(operand ast.Expr, name string) bool {
	t := p.GetType(operand.ID())
	if t.Kind() != types.StructKind {
		return false
	}
	field, found := p.provider.FindStructFieldType(t.TypeName(), name)
	return found && field.IsSet != nil && field.GetFrom != nil
}

// policyVariable returns the position of the policy's variable that an expression selects, as in
// variables.x. It returns false for all other selections.
func (p *planner) policyVariable(selected ast.SelectExpr) (int, bool) {
	operand := selected.Operand()
	if operand.Kind() != ast.IdentKind || selected.IsTestOnly() || p.scope.Variables == "" {
		return 0, false
	}
	reference, ok := p.reference(operand)
	if !ok || reference.Name != p.scope.Variables {
		return 0, false
	}
	if _, shadowed := p.local(reference.Name); shadowed {
		return 0, false
	}
	name := selected.FieldName()
	i, ok := p.scope.Positions[name]
	// cel-go unescapes field names that contain two underscores.
	return i, ok && !strings.Contains(name, "__")
}

// index plans operand[key] and, if optional is set, operand[?key] and operand.?key.
func (p *planner) index(operand, key ast.Expr, optional bool) node {
	a := p.operand(operand)
	k := p.plan(key)
	q := qualifier{constant: k.constant, optional: optional}
	if q.constant == nil {
		q.index = k.nested()
	}
	switch constant := q.constant.(type) {
	case types.String:
		if p.isField(operand, string(constant)) {
			panic(unsupported("field of a Go type"))
		}
	case nil, types.Int, types.Uint, types.Double, types.Bool:
	default:
		panic(unsupported("constant index of type %s", constant.Type().TypeName())) // cel-go does not plan it
	}
	a = a.with(q)
	a.chained = a.chained || optional || p.isOptional(operand)
	if a.chained && a.own == 0 {
		panic(unsupported("optional selection from a conditional"))
	}
	return node{attribute: a}
}

// isOptional reports whether the static type of an expression is an optional.
func (p *planner) isOptional(e ast.Expr) bool { return syntax.IsOptional(p.GetType(e.ID())) }
