// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package intern

import (
	"maps"
	"sync"
	"weak"
)

// A Pool holds values by key while they are in use: it refers to them weakly. The zero value is
// ready for use. A Pool is safe for concurrent use.
type Pool[K comparable, V any] struct {
	lock   sync.Mutex
	values map[K]weak.Pointer[V]
	// nextSweep is the number of entries at which add removes the entries of collected values. A
	// cleanup function for each value would take more memory than many values do.
	nextSweep int
}

// minSweep is the minimum number of entries before add removes any.
const minSweep = 64

// Get returns the value of a key. If no such value is in use, Get adds the result of newValue. The
// value is shared and must not be changed. newValue must not use the pool.
func (p *Pool[K, V]) Get(key K, newValue func() *V) *V {
	p.lock.Lock()
	defer p.lock.Unlock()
	value := p.values[key].Value()
	if value == nil {
		value = newValue()
		p.add(key, value)
	}
	return value
}

// Find returns the value of a key, or nil if no such value is in use.
func (p *Pool[K, V]) Find(key K) *V {
	p.lock.Lock()
	defer p.lock.Unlock()
	return p.values[key].Value()
}

// Add sets the value of a key. Values that Get or Find returned before stay valid.
func (p *Pool[K, V]) Add(key K, value *V) {
	p.lock.Lock()
	defer p.lock.Unlock()
	p.add(key, value)
}

func (p *Pool[K, V]) add(key K, value *V) {
	if len(p.values) >= p.nextSweep {
		maps.DeleteFunc(p.values, func(_ K, value weak.Pointer[V]) bool { return value.Value() == nil })
		p.nextSweep = max(minSweep, 2*len(p.values))
	}
	if p.values == nil {
		p.values = map[K]weak.Pointer[V]{}
	}
	p.values[key] = weak.Make(value)
}
