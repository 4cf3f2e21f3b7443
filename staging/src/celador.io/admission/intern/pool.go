// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package intern

import (
	"maps"
	"sync"
	"weak"
)

// Pool has values by key as long as somebody uses them. The zero value is empty. Safe
// for concurrent use.
type Pool[K comparable, V any] struct {
	lock   sync.Mutex
	values map[K]weak.Pointer[V]
	// sweep is at how many values those that are gone are looked for. A cleanup for each
	// value would take more memory than many values do.
	sweep int
}

// minSweep is the least number of values to look through.
const minSweep = 64

// Get returns the value with that key, which is shared and must not be changed. When
// nobody uses one any more, it is made anew. The function must not use the pool.
func (p *Pool[K, V]) Get(key K, make func() *V) *V {
	p.lock.Lock()
	defer p.lock.Unlock()
	value := p.values[key].Value()
	if value == nil {
		value = make()
		p.add(key, value)
	}
	return value
}

// Find returns the value with that key, or nil if nobody uses one.
func (p *Pool[K, V]) Find(key K) *V {
	p.lock.Lock()
	defer p.lock.Unlock()
	return p.values[key].Value()
}

// Add makes a value the one with that key.
func (p *Pool[K, V]) Add(key K, value *V) {
	p.lock.Lock()
	defer p.lock.Unlock()
	p.add(key, value)
}

func (p *Pool[K, V]) add(key K, value *V) {
	if len(p.values) >= p.sweep {
		maps.DeleteFunc(p.values, func(_ K, value weak.Pointer[V]) bool { return value.Value() == nil })
		p.sweep = max(minSweep, 2*len(p.values))
	}
	if p.values == nil {
		p.values = map[K]weak.Pointer[V]{}
	}
	p.values[key] = weak.Make(value)
}

// Len returns how many values the pool has. Those that nobody uses any more may still
// be counted, but they are never more than those in use by far.
func (p *Pool[K, V]) Len() int {
	p.lock.Lock()
	defer p.lock.Unlock()
	return len(p.values)
}
