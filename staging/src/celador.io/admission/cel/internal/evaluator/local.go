// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package evaluator

import (
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
)

// A local is a variable of a comprehension.
type local struct {
	name string
	slot int
	// init returns the first value of an accumulator. It is evaluated on the first read.
	init closure
}

// local returns the innermost variable of the enclosing comprehensions with the given name.
func (p *planner) local(name string) (local, bool) {
	for i := len(p.locals) - 1; i >= 0; i-- {
		if p.locals[i].name == name {
			return p.locals[i], true
		}
	}
	return local{}, false
}

func (p *planner) push(name string, init closure) local {
	l := local{name, p.slots, init}
	p.slots++
	p.locals = append(p.locals, l)
	return l
}

// read returns a closure for the value of the variable. The closure does not check for errors and
// unknowns, because loops put neither into the slots of items.
func (l local) read() closure {
	slot, init := l.slot, l.init
	if init == nil {
		return func(f *frame) ref.Val { return f.slots[slot] }
	}
	return func(f *frame) ref.Val {
		if f.slots[slot] == nil {
			f.slots[slot] = init(f)
		}
		return f.slots[slot]
	}
}

// A positional list returns its elements without a CEL value for the index.
type positional interface {
	Len() int
	// At returns the element at an index, which must be at least 0 and less than Len.
	At(i int) ref.Val
}

// A cursor iterates over the elements of a list or the keys of a map.
type cursor struct {
	// elements is set for positional lists, list for others, and it for maps.
	elements   positional
	list       traits.Lister
	next, size types.Int
	it         traits.Iterator
}

// begin puts the cursor, which must be zero, before the first element. It returns false for values
// that are neither lists nor iterable.
func (c *cursor) begin(value ref.Val) (ok bool) {
	if c.elements, ok = value.(positional); ok {
		c.size = types.Int(c.elements.Len())
		return true
	}
	if c.list, ok = value.(traits.Lister); ok {
		c.size, ok = c.list.Size().(types.Int)
		return ok
	}
	if value == nil || !value.Type().HasTrait(traits.IterableType) {
		return false
	}
	iterable, ok := value.(traits.Iterable)
	if ok {
		c.it = iterable.Iterator()
	}
	return ok
}

// advance returns the next element or key, or false at the end. The key is nil for a field of an
// object that the schema of the object does not declare; loops then decline.
func (c *cursor) advance() (ref.Val, bool) {
	if c.next < c.size {
		c.next++
		if c.elements != nil {
			return c.elements.At(int(c.next - 1)), true
		}
		return c.list.Get(c.next - 1), true
	}
	if c.it != nil && c.it.HasNext() == types.True {
		return c.it.Next(), true
	}
	return nil, false
}
