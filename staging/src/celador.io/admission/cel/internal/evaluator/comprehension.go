// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package evaluator

import (
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"

	"celador.io/admission/cel/internal/immutable"
)

// A loop evaluates a comprehension for which macroExpansion has no faster way: one that is not the
// expansion of all, exists, map or filter.
type loop struct {
	elements closure
	// item, accumulator and mutable are indices of the frame's slots. The first two are those of
	// the comprehension's variables. The slot at mutable is a flag: it is set if the accumulator
	// started as an empty list or map, to which the steps of the loop append in place.
	item, accumulator, mutable int
	condition, next, finish    closure
	// pairs is set for a comprehension of two variables. The slot second follows item.
	pairs   bool
	second  int
	adapter types.Adapter
}

func (p *planner) comprehension(c ast.ComprehensionExpr) node {
	start := p.plan(c.AccuInit())
	elements := p.plan(c.IterRange())
	mutable := p.slots
	p.slots++
	outer := p.locals
	defer func() { p.locals = outer }()
	accumulator := p.push(c.AccuVar(), p.start(start, mutable))
	inResult := p.locals
	item, second := p.push(c.IterVar(), nil), local{}
	if c.HasIterVar2() {
		second = p.push(c.IterVar2(), nil)
	}
	condition := p.plan(c.LoopCondition())
	if !c.HasIterVar2() {
		if n, ok := p.macroExpansion(c, elements.eval, item.slot, condition); ok {
			return n
		}
	}
	appends := p.appends
	p.appends, _ = immutable.Append(c)
	next := p.plan(c.LoopStep())
	p.appends, p.locals = appends, inResult
	finish := p.plan(c.Result())
	planned := &loop{
		elements: elements.eval, item: item.slot, accumulator: accumulator.slot, mutable: mutable,
		condition: condition.eval, next: next.eval, finish: finish.eval,
		pairs: c.HasIterVar2(), second: second.slot, adapter: p.library.adapter,
	}
	return node{eval: planned.eval}
}

// start returns a closure for the initial value of the accumulator. Like cel-go, it replaces an
// empty list or map with a mutable one, to which steps append in place. It then sets the flag in
// the slot at the index mutable, so that the loop makes its result immutable at the end.
func (p *planner) start(init node, mutable int) closure {
	adapter := p.library.adapter
	return func(f *frame) ref.Val {
		value := init.eval(f)
		if l, ok := value.(traits.Lister); ok && l.Size() == types.IntZero {
			f.slots[mutable] = types.True
			return types.NewMutableList(adapter)
		}
		if m, ok := value.(traits.Mapper); ok && m.Size() == types.IntZero {
			f.slots[mutable] = types.True
			return types.NewMutableMap(adapter, map[ref.Val]ref.Val{})
		}
		return value
	}
}

func (l *loop) eval(f *frame) ref.Val {
	elements := l.elements(f)
	f.slots[l.accumulator], f.slots[l.mutable] = nil, nil
	if l.pairs && !l.eachPair(f, elements) || !l.pairs && !l.each(f, elements) {
		return nil
	}
	result := l.finish(f)
	if f.slots[l.mutable] == nil {
		// The accumulator of this loop did not start as an empty list or map. If the result is
		// mutable, it is the accumulator of an enclosing comprehension, which still appends to it:
		// leave it mutable.
		return result
	}
	switch result := result.(type) {
	case traits.MutableLister:
		return result.ToImmutableList()
	case traits.MutableMapper:
		return result.ToImmutableMap()
	default:
		return result
	}
}

// each evaluates the loop for the elements of a list or the keys of a map. It returns false to
// decline.
func (l *loop) each(f *frame, elements ref.Val) bool {
	var c cursor
	if !c.begin(elements) {
		return false
	}
	for item, ok := c.advance(); ok; item, ok = c.advance() {
		if f.slots[l.item] = plain(item); f.slots[l.item] == nil {
			return false
		}
		if proceed, ok := l.iterate(f); !ok || !proceed {
			return ok
		}
	}
	return true
}

// iterate evaluates one iteration. It returns whether there is another, and false to decline.
func (l *loop) iterate(f *frame) (proceed, ok bool) {
	wanted, ok := l.condition(f).(types.Bool)
	if !ok || wanted == types.False {
		return false, ok
	}
	value := l.next(f)
	if value == nil || !f.nextIteration() {
		return false, false
	}
	f.slots[l.accumulator] = value
	return true, true
}

// eachPair evaluates the loop for the indexes and elements of a list, or the keys and values of a
// map, in cel-go's order. It returns false to decline.
func (l *loop) eachPair(f *frame, elements ref.Val) bool {
	p := &pairs{loop: l, frame: f, ok: true}
	switch elements := elements.(type) {
	case traits.Mapper:
		types.ToFoldableMap(elements).Fold(p)
	case traits.Lister:
		types.ToFoldableList(elements).Fold(p)
	default:
		return false
	}
	return p.ok
}

// pairs evaluates a loop of two variables.
type pairs struct {
	*loop
	*frame
	ok bool
}

// FoldEntry implements traits.Folder.
func (p *pairs) FoldEntry(key, value any) (proceed bool) {
	p.slots[p.item], p.slots[p.second] = plain(p.adapter.NativeToValue(key)), plain(p.adapter.NativeToValue(value))
	if p.slots[p.item] == nil || p.slots[p.second] == nil {
		p.ok = false
		return false
	}
	proceed, p.ok = p.iterate(p.frame)
	return proceed
}
