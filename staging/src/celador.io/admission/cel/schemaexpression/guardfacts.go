// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package schemaexpression

import (
	"cmp"
	"maps"
	"strconv"
	"strings"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"

	"celador.io/admission/cel/internal/syntax"
)

// facts is the set of places, by their keys, that are known to be set at one point of an
// evaluation: where a subexpression is evaluated, or where it has returned a certain value. A place
// is a part of the object. If the evaluation cannot get to that point, the only key is impossible,
// and every place counts as set.
type facts map[string]bool

// impossible differs from the key of every place: those of fields start with a separator.
const impossible = "impossible"

const separator = "\x00"

// key identifies a place.
func (p *place) key() string { return p.keyWith(0) }

// keyWith returns a key of a place. In the key, a mark for all entries replaces the last n entries
// of lists and maps on the way to the place. Facts about all entries, such as those that follow
// from all(), have such keys.
func (p *place) keyWith(n int) string {
	if p.parent == nil {
		return ""
	}
	key := separator + p.name
	switch {
	case p.id == 0:
		return p.parent.keyWith(n) + key
	case n > 0:
		return p.parent.keyWith(n-1) + key + separator + strconv.Itoa(ofAll)
	default:
		return p.parent.keyWith(0) + key + separator + strconv.Itoa(p.id)
	}
}

// entries returns how many entries of lists and maps are on the way to a place.
func (p *place) entries() int {
	n := 0
	for ; p.parent != nil; p = p.parent {
		if p.id != 0 {
			n++
		}
	}
	return n
}

// present returns the facts that follow if a place is set: everything on the way to it is set, too.
func present(p *place) facts {
	if p == nil {
		return nil
	}
	known := facts{}
	for ; p.parent != nil; p = p.parent {
		known[p.key()] = true
	}
	return known
}

func (f facts) has(p *place) bool {
	if f[impossible] {
		return true
	}
	for n := range p.entries() + 1 {
		if f[p.keyWith(n)] {
			return true
		}
	}
	return false
}

// and returns the facts that hold if both f and other hold: all of them.
func (f facts) and(other facts) facts {
	switch {
	case len(other) == 0:
		return f
	case len(f) == 0:
		return other
	}
	both := maps.Clone(f)
	maps.Copy(both, other)
	return both
}

// or returns the facts that hold if at least one of f and other holds: those in both.
func (f facts) or(other facts) facts {
	switch {
	case f[impossible]:
		return other
	case other[impossible]:
		return f
	}
	common := facts{}
	for key := range f {
		if other[key] {
			common[key] = true
		}
	}
	return common
}

// relative returns the facts about parts of the value at the place to. Their keys begin at that
// place, as if the value were the whole object, so that the method at can apply what is known of
// one entry of a list to all entries.
func (f facts) relative(to *place) facts {
	inside := facts{}
	if to == nil {
		return inside
	}
	for key := range f {
		if rest, ok := strings.CutPrefix(key, to.key()); ok && strings.HasPrefix(rest, separator) {
			inside[rest] = true
		}
	}
	return inside
}

// at is the inverse of relative: the keys of f begin at the place p, and those of the result at the
// whole object.
func (f facts) at(p *place) facts {
	absolute := make(facts, len(f))
	for rest := range f {
		absolute[p.key()+rest] = true
	}
	return absolute
}

// implications holds the facts that follow from each of the two values of a boolean expression.
type implications struct{ whenTrue, whenFalse facts }

func (o implications) not() implications { return implications{o.whenFalse, o.whenTrue} }

func (o implications) and(other implications) implications {
	return implications{o.whenTrue.and(other.whenTrue), o.whenFalse.or(other.whenFalse)}
}

// implied returns the facts that follow from the value of an expression.
func (g *guards) implied(e ast.Expr) implications {
	if g.visits++; g.visits > maxVisits || g.GetType(e.ID()).Kind() != types.BoolKind && g.GetType(e.ID()).Kind() != types.DynKind {
		return implications{}
	}
	switch e.Kind() {
	case ast.IdentKind:
		return g.variable(e.AsIdent()).implied
	case ast.LiteralKind:
		return impliedByValue(e.AsLiteral() == types.True, facts{impossible: true}).not()
	case ast.SelectKind:
		selected := e.AsSelect()
		if selected.IsTestOnly() {
			return implications{whenTrue: present(g.origin(selected.Operand()).below(selected.FieldName(), false).place)}
		}
	case ast.CallKind:
		return g.impliedByCall(e.AsCall(), e)
	case ast.ComprehensionKind:
		return g.impliedByComprehension(e.AsComprehension())
	}
	return implications{}
}

// impliedByValue returns the implications of a boolean expression: the facts in known follow if it
// has the given value, and no facts if it has the other.
func impliedByValue(value bool, known facts) implications {
	if value {
		return implications{whenTrue: known}
	}
	return implications{whenFalse: known}
}

func (g *guards) impliedByCall(call ast.CallExpr, e ast.Expr) implications {
	args := call.Args()
	switch call.FunctionName() {
	case operators.LogicalNot:
		return g.implied(args[0]).not()
	case operators.LogicalAnd:
		return g.implied(args[0]).and(g.implied(args[1]))
	case operators.LogicalOr:
		return g.implied(args[0]).not().and(g.implied(args[1]).not()).not()
	case operators.Conditional:
		condition, then, otherwise := g.implied(args[0]), g.implied(args[1]), g.implied(args[2])
		return implications{
			condition.whenTrue.and(then.whenTrue).or(condition.whenFalse.and(otherwise.whenTrue)),
			condition.whenTrue.and(then.whenFalse).or(condition.whenFalse.and(otherwise.whenFalse)),
		}
	case "hasValue":
		return implications{whenTrue: present(g.origin(call.Target()).place)}
	case operators.In:
		known := present(g.fallback(args[1]).place)
		key, isText := syntax.Text(args[0])
		if of := g.origin(args[1]); isText && !of.optional {
			known = known.and(present(of.below(key, false).place))
		}
		return implications{whenTrue: known}
	case operators.Equals, operators.NotEquals, operators.Less, operators.LessEquals, operators.Greater, operators.GreaterEquals:
		return g.impliedByComparison(call.FunctionName(), args[0], args[1])
	case "startsWith", "endsWith", "contains":
		if affix, _ := syntax.Text(args[0]); call.IsMemberFunction() && affix != "" {
			if of := g.fallback(call.Target()); of.place != nil && of.value == types.String("") {
				return implications{whenTrue: present(of.place)}
			}
		}
	}
	if of := g.fallback(e); of.place != nil {
		// If the value differs from the fallback, the part is set.
		return impliedByValue(of.value != types.True, present(of.place))
	}
	return implications{}
}

// A fallback describes an expression such as self.?a.orValue(0): value is the value of the
// expression if the part of the object at place is unset.
type fallback struct {
	// place is nil for a constant, which always has the value. Both place and value are nil for an
	// expression that is neither a constant nor like self.?a.orValue(0).
	place *place
	value ref.Val
}

// fallback returns the fallback of an expression of the form a.orValue(constant) or
// size(a.orValue(constant)), or of a shared variable that is defined so. A constant is a fallback
// without a place, so that a comparison can look up both of its sides. For other expressions it
// returns the zero value.
func (g *guards) fallback(e ast.Expr) fallback {
	switch e.Kind() {
	case ast.IdentKind:
		if definition := g.definition(e.AsIdent()); definition != nil {
			return definition.fallback(definition.Expr())
		}
		return fallback{}
	case ast.CallKind:
	default:
		return fallback{value: constantOf(e)}
	}
	call := e.AsCall()
	operands := syntax.Operands(call)
	switch {
	case call.FunctionName() == "orValue" && len(operands) == 2:
		if of, value := g.origin(operands[0]), constantOf(operands[1]); of.place != nil && value != nil {
			return fallback{of.place, value}
		}
	case call.FunctionName() == "size" && len(operands) == 1:
		of := g.fallback(operands[0])
		if sized, ok := of.value.(traits.Sizer); ok {
			return fallback{of.place, sized.Size()}
		}
	}
	return fallback{}
}

// constantOf returns the value of a literal, or of an empty list or map. It returns nil for other
// expressions.
func constantOf(e ast.Expr) ref.Val {
	switch {
	case e.Kind() == ast.LiteralKind:
		return e.AsLiteral()
	case e.Kind() == ast.ListKind && e.AsList().Size() == 0:
		return types.NewRefValList(types.DefaultTypeAdapter, nil)
	case e.Kind() == ast.MapKind && e.AsMap().Size() == 0:
		return types.NewRefValMap(types.DefaultTypeAdapter, nil)
	}
	return nil
}

// impliedByComparison returns the facts that follow from comparing an optional with optional.of()
// or optional.none(), or from comparing a constant with a value that has a fallback, such as
// self.?a.orValue(0) > 0.
func (g *guards) impliedByComparison(operator string, a, b ast.Expr) implications {
	if b.Kind() == ast.CallKind {
		if name := b.AsCall().FunctionName(); name == "optional.of" || name == "optional.none" {
			return impliedByValue((operator == operators.Equals) == (name == "optional.of"), present(g.origin(a).place))
		}
	}
	x, y := g.fallback(a), g.fallback(b)
	if (x.place == nil) == (y.place == nil) || x.value == nil || y.value == nil {
		return implications{}
	}
	result, ok := compare(operator, x.value, y.value)
	if !ok {
		return implications{}
	}
	// If the part is unset, the comparison evaluates to result. If it evaluates to the opposite,
	// the part is set.
	return impliedByValue(!result, present(cmp.Or(x.place, y.place)))
}

func compare(operator string, x, y ref.Val) (result, ok bool) {
	if operator == operators.Equals || operator == operators.NotEquals {
		equal := x.Equal(y)
		return (equal == types.True) == (operator == operators.Equals), types.IsBool(equal)
	}
	comparer, ok := x.(traits.Comparer)
	if !ok {
		return false, false
	}
	order, ok := comparer.Compare(y).(types.Int)
	holds := map[types.Int]string{-1: "<", 0: "=", 1: ">"}[order] // part of the operators that hold
	return strings.Contains(operator, holds), ok
}

// impliedByComprehension returns the facts that follow from all(), from exists(), and from the
// expression that cel.bind() or optMap() evaluates with a variable.
func (g *guards) impliedByComprehension(c ast.ComprehensionExpr) (known implications) {
	if syntax.IsBinding(c) {
		g.in(c, func(facts) { known = g.implied(c.Result()) })
		return known
	}
	step := c.LoopStep()
	if step.Kind() != ast.CallKind || len(step.AsCall().Args()) != 2 {
		return implications{}
	}
	condition := step.AsCall().Args()[1]
	of := g.origin(c.IterRange())
	each := func(pick func(implications) facts) facts {
		if of.place == nil || of.optional || g.GetType(c.IterRange().ID()).Kind() != types.ListKind {
			return nil
		}
		var inside facts
		g.in(c, func(facts) { inside = pick(g.implied(condition)).relative(g.scope[c.IterVar()].place) })
		return inside.at(&place{parent: of.place, name: Entry, id: ofAll})
	}
	switch step.AsCall().FunctionName() {
	case operators.LogicalAnd: // all()
		return implications{whenTrue: each(func(o implications) facts { return o.whenTrue })}
	case operators.LogicalOr: // exists()
		return implications{
			whenTrue:  present(g.fallback(c.IterRange()).place),
			whenFalse: each(func(o implications) facts { return o.whenFalse }),
		}
	}
	return implications{}
}
