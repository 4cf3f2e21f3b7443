// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package values

import "github.com/google/cel-go/common/types/ref"

// A child is a part of a struct or map that was read. Its key is the position of a field in the
// struct, or the name of a map entry.
type child[K comparable] struct {
	key K
	// value is nil if the struct or map does not have the part.
	value ref.Val
}

// A childCache holds the parts of a struct or map that were read. The zero value is ready for use.
// Most policies read one or two parts of a struct, which need no memory but the struct's.
type childCache[K comparable] struct {
	// values and keys hold the first children. They are two arrays instead of one of pairs, because
	// two short keys then fill one word of memory.
	values [2]ref.Val
	rest   *cacheRest[K]
	keys   [2]K
	// count is the number of children in values and in rest.next.
	count uint16
}

// A cacheRest extends the childCache of the few structs and maps of which expressions read more
// than two parts. It holds the further children in next, and in overflow once next is full. names
// holds the keys of all fields or entries, for iterations.
type cacheRest[K comparable] struct {
	next     [6]child[K]
	overflow map[K]ref.Val
	names    []ref.Val
}

// find returns the cached value of a key. It returns false if the key was not added.
func (c *childCache[K]) find(key K) (ref.Val, bool) {
	count := int(c.count)
	for i := range min(count, len(c.keys)) {
		if c.keys[i] == key {
			return c.values[i], true
		}
	}
	if c.rest == nil {
		return nil, false
	}
	for i := range count - len(c.keys) {
		if found := &c.rest.next[i]; found.key == key {
			return found.value, true
		}
	}
	v, cached := c.rest.overflow[key]
	return v, cached
}

func (c *childCache[K]) add(key K, v ref.Val) {
	if int(c.count) < len(c.keys) {
		c.keys[c.count], c.values[c.count] = key, v
		c.count++
		return
	}
	rest := c.allocatedRest()
	if i := int(c.count) - len(c.keys); i < len(rest.next) {
		rest.next[i] = child[K]{key, v}
		c.count++
		return
	}
	if rest.overflow == nil {
		rest.overflow = map[K]ref.Val{}
	}
	rest.overflow[key] = v
}

// names returns the cached keys of all fields or entries of the struct or map, whether they were
// read or not. It calls list, which returns them, the first time only.
func (c *childCache[K]) names(list func() []ref.Val) []ref.Val {
	rest := c.allocatedRest()
	if rest.names == nil {
		rest.names = list()
	}
	return rest.names
}

func (c *childCache[K]) allocatedRest() *cacheRest[K] {
	if c.rest == nil {
		c.rest = &cacheRest[K]{}
	}
	return c.rest
}
