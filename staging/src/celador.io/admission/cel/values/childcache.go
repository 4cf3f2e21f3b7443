// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package values

import "github.com/google/cel-go/common/types/ref"

// A child is a part of a struct or map that was read, by its name or field.
type child[K comparable] struct {
	key K
	// value is nil if the struct or map does not have the part.
	value ref.Val
}

// A childCache holds the parts of a struct or map that were read. The zero value is ready for use.
// Most policies read one or two parts of a struct, which need no memory but the struct's.
type childCache[K comparable] struct {
	first [2]child[K]
	// count is the number of children in first and in rest.next.
	count int
	rest  *cacheRest[K]
}

// A cacheRest holds what few structs and maps need: the children after first, those in overflow
// once next is full, and the keys.
type cacheRest[K comparable] struct {
	next     [6]child[K]
	overflow map[K]ref.Val
	keys     []ref.Val
}

// find returns the cached value of a key. It returns false if the key was not added.
func (c *childCache[K]) find(key K) (ref.Val, bool) {
	for i := range min(c.count, len(c.first)) {
		if found := &c.first[i]; found.key == key {
			return found.value, true
		}
	}
	if c.rest == nil {
		return nil, false
	}
	for i := range c.count - len(c.first) {
		if found := &c.rest.next[i]; found.key == key {
			return found.value, true
		}
	}
	v, cached := c.rest.overflow[key]
	return v, cached
}

func (c *childCache[K]) add(key K, v ref.Val) {
	if c.count < len(c.first) {
		c.first[c.count] = child[K]{key, v}
		c.count++
		return
	}
	rest := c.allocatedRest()
	if i := c.count - len(c.first); i < len(rest.next) {
		rest.next[i] = child[K]{key, v}
		c.count++
		return
	}
	if rest.overflow == nil {
		rest.overflow = map[K]ref.Val{}
	}
	rest.overflow[key] = v
}

// keys returns what list returned when keys was first called.
func (c *childCache[K]) keys(list func() []ref.Val) []ref.Val {
	rest := c.allocatedRest()
	if rest.keys == nil {
		rest.keys = list()
	}
	return rest.keys
}

func (c *childCache[K]) allocatedRest() *cacheRest[K] {
	if c.rest == nil {
		c.rest = &cacheRest[K]{}
	}
	return c.rest
}
