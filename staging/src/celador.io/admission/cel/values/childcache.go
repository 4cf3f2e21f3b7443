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
type childCache struct {
	// children caches the first maxChildren lookups, and overflow the others. first is the initial
	// storage of children.
	children []child
	first    [1]child
	overflow map[string]ref.Val
}

// maxChildren is the number of cached values up to which comparing names is faster than hashing.
const maxChildren = 8

// find returns the cached value of a name. It returns false if the name was not added.
func (c *childCache) find(name string) (ref.Val, bool) {
	for i := range c.children {
		if found := &c.children[i]; found.name == name {
			return found.value, true
		}
	}
	v, cached := c.overflow[name]
	return v, cached
}

func (c *childCache) add(name string, v ref.Val) {
	switch {
	case len(c.children) == maxChildren:
		if c.overflow == nil {
			c.overflow = map[string]ref.Val{}
		}
		c.overflow[name] = v
	case c.children == nil:
		c.children = c.first[:0]
		fallthrough
	default:
		c.children = append(c.children, child{name, v})
	}
}
