// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package values

import "github.com/google/cel-go/common/types/ref"

// A child is a part of a struct or map that was read.
type child struct {
	name string
	// value is nil if the struct or map does not have the part.
	value ref.Val
}

// A childCache holds the parts of a struct or map that were read. The zero value is ready for use.
// Most policies read one or two parts of a struct, which need no memory but the struct's.
type childCache struct {
	first [2]child
	// count is the number of children in first and in rest.next.
	count int
	rest  *cacheRest
}

// A cacheRest extends a childCache for the few structs and maps of which more is read. It holds the
// children after first, in overflow once next is full, and the keys.
type cacheRest struct {
	next     [6]child
	overflow map[string]ref.Val
	keys     []ref.Val
}

// find returns the cached value of a name. It returns false if the name was not added.
func (c *childCache) find(name string) (ref.Val, bool) {
	for i := range min(c.count, len(c.first)) {
		if found := &c.first[i]; found.name == name {
			return found.value, true
		}
	}
	if c.rest == nil {
		return nil, false
	}
	for i := range c.count - len(c.first) {
		if found := &c.rest.next[i]; found.name == name {
			return found.value, true
		}
	}
	v, cached := c.rest.overflow[name]
	return v, cached
}

func (c *childCache) add(name string, v ref.Val) {
	if c.count < len(c.first) {
		c.first[c.count] = child{name, v}
		c.count++
		return
	}
	rest := c.allocatedRest()
	if i := c.count - len(c.first); i < len(rest.next) {
		rest.next[i] = child{name, v}
		c.count++
		return
	}
	if rest.overflow == nil {
		rest.overflow = map[string]ref.Val{}
	}
	rest.overflow[name] = v
}

// keys returns the result of list, which it calls the first time only.
func (c *childCache) keys(list func() []ref.Val) []ref.Val {
	rest := c.allocatedRest()
	if rest.keys == nil {
		rest.keys = list()
	}
	return rest.keys
}

func (c *childCache) allocatedRest() *cacheRest {
	if c.rest == nil {
		c.rest = &cacheRest{}
	}
	return c.rest
}
