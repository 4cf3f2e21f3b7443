// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package values

import (
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
)

// A keyIterator iterates over the keys of a map.
type keyIterator struct {
	// Val is the map. It provides the methods of ref.Val that cel-go requires of iterators.
	ref.Val
	keys []ref.Val
}

// HasNext implements traits.Iterator.
func (i *keyIterator) HasNext() ref.Val { return types.Bool(len(i.keys) > 0) }

// Next implements traits.Iterator.
func (i *keyIterator) Next() ref.Val {
	if len(i.keys) == 0 {
		return noMore()
	}
	key := i.keys[0]
	i.keys = i.keys[1:]
	return key
}

// An elementIterator iterates over the elements of a list.
type elementIterator struct {
	// Val is the list. It provides the methods of ref.Val that cel-go requires of iterators.
	ref.Val
	elements interface {
		Len() int
		At(i int) ref.Val
	}
	next int
}

// HasNext implements traits.Iterator.
func (i *elementIterator) HasNext() ref.Val { return types.Bool(i.next < i.elements.Len()) }

// Next implements traits.Iterator.
func (i *elementIterator) Next() ref.Val {
	if i.next >= i.elements.Len() {
		return noMore()
	}
	i.next++
	return i.elements.At(i.next - 1)
}

func noMore() ref.Val { return types.NewErr("no more elements") }
