// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package schemaexpression

import (
	"maps"
	"strings"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types"

	"celador.io/admission/cel/internal/costbound"
	"celador.io/admission/cel/internal/syntax"
)

// An UnguardedRead is a part of an object that an expression reads without asking before whether it
// is set: an evaluation may fail with 'no such key' if the part is unset.
type UnguardedRead struct {
	// Variable is the variable that the path begins at: Self or Root.
	Variable string
	// Path leads from the variable to the part. Its elements are names of fields as the expression
	// spells them, constant keys of maps, and Entry for the items of lists and the values of maps.
	Path []string
	// Shared is the name of the shared variable whose expression reads the part. In that
	// expression, self is the whole object. Shared is empty if the analyzed expression reads the
	// part itself.
	Shared string
}

// UnguardedReads returns the unguarded reads of self, of root and of the shared variables, in the
// order of the expression. A read in the expression of a shared variable counts where the variable
// is used: a condition that guards the use guards the read, too. scope is the path from root to
// self.
//
// The conditions that guard reads are has(), 'key in map', hasValue() and comparisons of orValue(),
// in the operands of &&, || and conditionals, and in filter() and all(). UnguardedReads does not
// follow values through computed lists and maps, so it may miss reads. It returns none that one of
// these conditions guards.
func (x *Expression) UnguardedReads(scope ...string) []UnguardedRead {
	checked, err := x.ast()
	if err != nil {
		return nil
	}
	state := &guardState{bindings: len(scope), seen: map[string]bool{}, variables: map[string]origin{}}
	if shared := x.environment.scope.Shared; shared != nil {
		state.definitions = shared.definitions
	}
	g := newGuards(state, checked.NativeRep(), "", scope)
	// The expression is evaluated only if there is a self.
	g.visit(g.Expr(), present(g.self))
	return state.reads
}

// maxVisits bounds the work for an expression whose macros copy their operands.
const maxVisits = 100_000

// guards finds the reads of an expression that no condition guards, so that they may fail.
type guards struct {
	*ast.AST
	*guardState
	// shared is the name of the shared variable that the expression defines. Empty if it defines
	// none.
	shared string
	// self is the place of self.
	self *place
	// scope holds the origins of the variables in scope.
	scope map[string]origin
}

// guardState holds the unguarded reads that UnguardedReads has found so far, and which parts of the
// object are the values of shared variables. The guards of an expression and those of each shared
// variable that it reads use the same guardState, so all reads are collected in one list.
type guardState struct {
	// definitions holds the expressions of the shared variables. variables holds the origins of
	// those that have been read: which part of the object the value of the variable is.
	definitions map[string]costbound.Variable
	variables   map[string]origin
	// bindings counts the loops over lists and maps that have been analyzed. The entry that a loop
	// visits gets this number as its id, so that the entries of two nested loops over the same list
	// are different places.
	bindings int
	visits   int
	seen     map[string]bool
	reads    []UnguardedRead
}

// newGuards returns the guards of an expression whose self is at the given path in root.
func newGuards(state *guardState, checked *ast.AST, shared string, path []string) *guards {
	self := &place{}
	for i, name := range path {
		self = &place{parent: self, name: name}
		if name == Entry {
			self.id = i + 1
		}
	}
	return &guards{AST: checked, guardState: state, shared: shared, self: self, scope: map[string]origin{Self: {place: self}, Root: {place: &place{}}}}
}

// definition returns the guards of the expression that defines a shared variable, or nil if the
// name is that of another variable.
func (g *guards) definition(name string) *guards {
	if defined, ok := g.definitions[name]; ok {
		return newGuards(g.guardState, defined.Checked, strings.TrimPrefix(name, sharedPrefix), nil)
	}
	return nil
}

// variable returns the origin of the value of a variable.
func (g *guards) variable(name string) origin {
	if of, ok := g.scope[name]; ok {
		return of
	}
	if of, ok := g.variables[name]; ok {
		return of
	}
	definition := g.definition(name)
	if definition == nil {
		return origin{}
	}
	g.variables[name] = origin{} // A definition reads only variables that are defined before it.
	of := definition.origin(definition.Expr())
	of.implied = definition.implied(definition.Expr())
	g.variables[name] = of
	return of
}

// visit records the unguarded reads in an expression. known holds what is known to be set where the
// expression is evaluated.
func (g *guards) visit(e ast.Expr, known facts) {
	if g.visits++; g.visits > maxVisits {
		return
	}
	switch e.Kind() {
	case ast.IdentKind:
		if definition := g.definition(e.AsIdent()); definition != nil {
			definition.visit(definition.Expr(), known)
		}
	case ast.SelectKind:
		selected := e.AsSelect()
		g.visit(selected.Operand(), known)
		if !selected.IsTestOnly() && !g.isOptional(selected.Operand()) {
			g.read(g.origin(e).place, known)
		}
	case ast.CallKind:
		g.visitCall(e, known)
	case ast.ListKind, ast.MapKind, ast.StructKind:
		for _, part := range syntax.Parts(e) {
			g.visit(part, known)
		}
	case ast.ComprehensionKind:
		c := e.AsComprehension()
		g.visit(c.IterRange(), known)
		g.visit(c.AccuInit(), known)
		g.in(c, func(entry facts) {
			inside := known.and(entry)
			g.visit(c.LoopCondition(), inside)
			g.visit(c.LoopStep(), inside)
			g.visit(c.Result(), known)
		})
	}
}

func (g *guards) visitCall(e ast.Expr, known facts) {
	call := e.AsCall()
	args := call.Args()
	switch call.FunctionName() {
	case operators.LogicalAnd:
		// CEL may evaluate either operand first, and drops an error of one if the other decides. So
		// each operand guards the other.
		g.visit(args[0], known.and(g.implied(args[1]).whenTrue))
		g.visit(args[1], known.and(g.implied(args[0]).whenTrue))
		return
	case operators.LogicalOr:
		g.visit(args[0], known.and(g.implied(args[1]).whenFalse))
		g.visit(args[1], known.and(g.implied(args[0]).whenFalse))
		return
	case operators.Conditional:
		condition := g.implied(args[0])
		g.visit(args[0], known)
		g.visit(args[1], known.and(condition.whenTrue))
		g.visit(args[2], known.and(condition.whenFalse))
		return
	}
	for _, operand := range syntax.Operands(call) {
		g.visit(operand, known)
	}
	switch call.FunctionName() {
	case operators.Index:
		if _, isText := syntax.Text(args[1]); isText && !g.isOptional(args[0]) {
			g.read(g.origin(e).place, known)
		}
	case "value":
		if call.IsMemberFunction() && g.isOptional(call.Target()) {
			g.read(g.origin(e).place, known)
		}
	}
}

// read records that a place is read, unless it is known to be set.
func (g *guards) read(p *place, known facts) {
	if p == nil || known.has(p) {
		return
	}
	key := strings.Join(p.path(nil), separator)
	if g.seen[key] {
		return
	}
	g.seen[key] = true
	read := UnguardedRead{Variable: Root, Path: p.path(nil), Shared: g.shared}
	for at := p; at != nil; at = at.parent {
		if at == g.self {
			read.Variable, read.Path = Self, p.path(g.self)
		}
	}
	g.reads = append(g.reads, read)
}

// in calls f with the variables of a comprehension in scope. entry holds the facts that are known
// during an iteration: the list or map is set, because it has an entry, and what is known of every
// entry, for example because filter() returned the list.
func (g *guards) in(c ast.ComprehensionExpr, f func(entry facts)) {
	bound := map[string]origin{c.AccuVar(): {}}
	var entry facts
	if syntax.IsBinding(c) {
		of := g.origin(c.AccuInit())
		of.implied = g.implied(c.AccuInit())
		bound[c.AccuVar()] = of
	} else {
		bound[c.IterVar()] = origin{}
		if c.HasIterVar2() {
			bound[c.IterVar2()] = origin{}
		}
		iterated := g.origin(c.IterRange())
		if iterated.keysOf != nil {
			entry = present(iterated.keysOf)
		} else if iterated.place != nil && !iterated.optional {
			g.bindings++
			value := origin{place: &place{parent: iterated.place, name: Entry, id: g.bindings}}
			key := origin{key: value.place}
			switch kind := g.GetType(c.IterRange().ID()).Kind(); {
			case c.HasIterVar2():
				bound[c.IterVar()], bound[c.IterVar2()] = key, value
			case kind == types.ListKind:
				bound[c.IterVar()] = value
			case kind == types.MapKind:
				bound[c.IterVar()] = key
			}
			// An iteration implies that the list or map, and so everything on the way to it, is
			// set.
			entry = iterated.entries.at(value.place).and(present(value.place))
		}
	}
	shadowed := maps.Clone(g.scope)
	maps.Copy(g.scope, bound)
	f(entry)
	g.scope = shadowed
}

// An origin tells which part of the object a value is, and what is known about it.
type origin struct {
	// place is the part of the object that the value is. If optional is set, the value is an
	// optional that may hold the part. Nil if the value is computed.
	place    *place
	optional bool
	// entries holds facts about every entry of the value. Their keys are relative to the entry.
	entries facts
	// key is the entry whose key the value is, in a loop over a map.
	key *place
	// keysOf is the map whose keys the value lists. If the list has items, the map is set.
	keysOf *place
	// implied holds the facts that follow from a variable with a boolean value.
	implied implications
}

// origin returns which part of the object the value of an expression is.
func (g *guards) origin(e ast.Expr) origin {
	switch e.Kind() {
	case ast.IdentKind:
		return g.variable(strings.TrimPrefix(e.AsIdent(), "."))
	case ast.SelectKind:
		selected := e.AsSelect()
		return g.origin(selected.Operand()).below(selected.FieldName(), g.isOptional(selected.Operand()))
	case ast.ComprehensionKind:
		return g.originOfList(e.AsComprehension())
	case ast.CallKind:
	default:
		return origin{}
	}
	call := e.AsCall()
	args := call.Args()
	switch call.FunctionName() {
	case operators.Index, operators.OptIndex, operators.OptSelect:
		optional := call.FunctionName() != operators.Index || g.isOptional(args[0])
		of := g.origin(args[0])
		if name, ok := syntax.Text(args[1]); ok {
			return of.below(name, optional)
		}
		if i, ok := listIndex(args[1]); ok && of.place != nil {
			return origin{place: &place{parent: of.place, name: Entry, id: ofIndex - i}, optional: optional}
		}
		if key := g.origin(args[1]).key; key != nil && of.place != nil && key.parent.key() == of.place.key() {
			return origin{place: key, optional: optional}
		}
	case "dyn", "optional.of":
		if len(args) == 1 {
			of := g.origin(args[0])
			of.optional = of.optional || call.FunctionName() != "dyn"
			return of
		}
	case "orValue":
		// An empty list or map has no entries to read.
		if value := constantOf(args[0]); call.IsMemberFunction() && (args[0].Kind() == ast.ListKind || args[0].Kind() == ast.MapKind) && value != nil {
			of := g.origin(call.Target())
			of.optional = false
			return of
		}
	case "sort", "reverse", "distinct":
		if call.IsMemberFunction() {
			return origin{keysOf: g.origin(call.Target()).keysOf}
		}
	case "value":
		if call.IsMemberFunction() && len(args) == 0 {
			of := g.origin(call.Target())
			of.optional = false
			return of
		}
	}
	return origin{}
}

// below returns the origin of a field, or of the value of a map key, in a value with the origin o.
func (o origin) below(name string, optional bool) origin {
	if o.place == nil {
		return origin{}
	}
	return origin{place: &place{parent: o.place, name: name}, optional: optional}
}

// originOfList returns the origin of the list that filter() returns, of a list of the keys of a
// map, or of the result of cel.bind() or optMap(). It returns the zero value for other
// comprehensions, because they compute values that are no part of the object.
func (g *guards) originOfList(c ast.ComprehensionExpr) origin {
	var of origin
	if syntax.IsBinding(c) {
		g.in(c, func(facts) { of = g.origin(c.Result()) })
		return of
	}
	item, condition, ok := syntax.Collected(c)
	if !ok || !syntax.IsIdent(item, c.IterVar()) {
		return origin{}
	}
	of = g.origin(c.IterRange())
	switch {
	case of.keysOf != nil:
		return origin{keysOf: of.keysOf}
	case of.place == nil:
		return origin{}
	case g.GetType(c.IterRange().ID()).Kind() == types.MapKind:
		return origin{keysOf: of.place}
	case condition == nil || g.GetType(c.IterRange().ID()).Kind() != types.ListKind:
		return origin{}
	}
	g.in(c, func(facts) {
		of.entries = of.entries.and(g.implied(condition).whenTrue.relative(g.scope[c.IterVar()].place))
	})
	return of
}

// A place is a part of the whole object, which is the value of root, or of self if there is no
// root. The place of the object itself has no parent.
type place struct {
	parent *place
	name   string
	// id tells entries of one list or map apart. It is the number of the loop that visits the entry
	// (guardState.bindings), ofAll for every entry, or ofIndex minus the index of an item. It is 0
	// for fields and constant keys.
	id int
}

const (
	ofAll   = -1
	ofIndex = -2
)

// path returns the names that lead to the place from another one that it is in, or from the object
// itself if the other one is nil.
func (p *place) path(from *place) []string {
	if p == from || p.parent == nil {
		return nil
	}
	return append(p.parent.path(from), p.name)
}

func (g *guards) isOptional(e ast.Expr) bool { return syntax.IsOptional(g.GetType(e.ID())) }

// listIndex returns a constant index of a list.
func listIndex(e ast.Expr) (int, bool) {
	if e.Kind() != ast.LiteralKind {
		return 0, false
	}
	i, ok := e.AsLiteral().(types.Int)
	return int(i), ok && i >= 0 && i < 1<<30
}
