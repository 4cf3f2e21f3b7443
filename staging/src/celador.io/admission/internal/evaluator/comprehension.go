// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package evaluator

import (
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
)

// A loop is a planned comprehension that is not the expansion of a known macro.
type loop struct {
	elements step
	// item and accumulator are the slots of the comprehension's variables. The slot mutable is set
	// if the accumulator started as an empty list or map, which the steps of the loop append to.
	item, accumulator, mutable int
	condition, next, finish    step
}

func (p *planner) comprehension(c ast.ComprehensionExpr) (node, error) {
	if c.HasIterVar2() {
		return unsupported("comprehension of two variables")
	}
	start, err := p.plan(c.AccuInit())
	if err != nil {
		return node{}, err
	}
	elements, err := p.plan(c.IterRange())
	if err != nil {
		return node{}, err
	}
	mutable := p.slots
	p.slots++
	accumulator := p.push(c.AccuVar(), p.start(start, mutable))
	item := p.push(c.IterVar(), nil)
	condition, err := p.plan(c.LoopCondition())
	if err != nil {
		return node{}, err
	}
	if n, ok, err := p.macroExpansion(c, elements.eval, item.slot, condition); ok || err != nil {
		p.pop()
		p.pop()
		return n, err
	}
	next, err := p.plan(c.LoopStep())
	if err != nil {
		return node{}, err
	}
	p.pop()
	finish, err := p.plan(c.Result())
	if err != nil {
		return node{}, err
	}
	p.pop()
	planned := &loop{elements.eval, item.slot, accumulator.slot, mutable, condition.eval, next.eval, finish.eval}
	return node{eval: planned.eval}, nil
}

// start returns a step for the initial value of the accumulator. It replaces an empty list or map
// with a mutable one, as cel-go does, and sets the slot mutable.
func (p *planner) start(init node, mutable int) step {
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
	c, ok := newCursor(l.elements(f))
	if !ok {
		return nil
	}
	f.slots[l.accumulator], f.slots[l.mutable] = nil, nil
	for {
		item := c.advance()
		if item == nil {
			break
		}
		f.slots[l.item] = item
		proceed, ok := l.condition(f).(types.Bool)
		if !ok {
			return nil
		}
		if !proceed {
			break
		}
		value := l.next(f)
		if value == nil || !f.nextIteration() {
			return nil
		}
		f.slots[l.accumulator] = value
	}
	result := l.finish(f)
	if f.slots[l.mutable] == nil {
		// The result may be the mutable accumulator of an enclosing comprehension, which still
		// appends to it.
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
