// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package fingerprint

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"

	"celador.io/admission/cel/values"
)

// current is nil unless a test has called Begin.
var current atomic.Pointer[check]

// Enabled reports whether Kept and Released have an effect.
func Enabled() bool { return current.Load() != nil }

// Kept records the fingerprint of a value that an evaluation keeps or shares from now on. It is
// safe for concurrent use.
func Kept(v ref.Val) {
	if c := current.Load(); c != nil {
		c.kept(v)
	}
}

// Released records that a value that Kept recorded is not kept any more. It is safe for concurrent
// use.
func Released(v ref.Val) {
	if c := current.Load(); c != nil {
		c.released(v)
	}
}

// Begin makes Kept and Released take fingerprints until the returned function is called, which
// returns a description of each value that has changed while it was kept. There is one Begin at a
// time: it panics if the function of an earlier one was not called.
func Begin() (end func() (changes []string)) {
	c := &check{values: map[identity]*kept{}}
	if !current.CompareAndSwap(nil, c) {
		panic("fingerprints are taken already")
	}
	return func() []string {
		current.Store(nil)
		return c.end()
	}
}

type check struct {
	lock    sync.Mutex
	values  map[identity]*kept
	changes []string
}

// An identity is the type and the memory of a value.
type identity [2]unsafe.Pointer

func identityOf(v ref.Val) identity { return *(*identity)(unsafe.Pointer(&v)) }

// kept is a value that was recorded a number of times, and not released as often.
type kept struct {
	value       ref.Val
	times       int
	fingerprint uint64
	text        string
}

// describe returns the type of a value and its text. It leaves out the text of a view, because
// making it fills the caches of the view.
func describe(v ref.Val) string {
	if values.IsView(v) {
		return fmt.Sprintf("%T", v)
	}
	return fmt.Sprintf("%T %v", v, v)
}

// compare returns a description of the change of the value, if there is one.
func (k *kept) compare() []string {
	if Of(k.value) == k.fingerprint {
		return nil
	}
	return []string{fmt.Sprintf("%s has changed to %s", k.text, describe(k.value))}
}

func (c *check) kept(v ref.Val) {
	switch v.(type) {
	case nil, types.Bool, types.Int, types.Uint, types.Double, types.String, types.Null, *types.Err:
		return
	}
	c.lock.Lock()
	defer c.lock.Unlock()
	if k, ok := c.values[identityOf(v)]; ok {
		k.times++
		return
	}
	c.values[identityOf(v)] = &kept{v, 1, Of(v), describe(v)}
}

func (c *check) released(v ref.Val) {
	c.lock.Lock()
	defer c.lock.Unlock()
	id := identityOf(v)
	k, ok := c.values[id]
	if !ok {
		return
	}
	c.changes = append(c.changes, k.compare()...)
	if k.times--; k.times == 0 {
		delete(c.values, id)
	}
}

func (c *check) end() []string {
	c.lock.Lock()
	defer c.lock.Unlock()
	for _, k := range c.values {
		c.changes = append(c.changes, k.compare()...)
	}
	slices.Sort(c.changes)
	return slices.Compact(c.changes)
}
