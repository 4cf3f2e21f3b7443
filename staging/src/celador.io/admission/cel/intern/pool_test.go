// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package intern_test

import (
	"runtime"
	"sync"
	"testing"

	"celador.io/admission/cel/intern"
)

type value struct{ key *int }

func newValue(key int) *value { return &value{&key} }

func TestPool(t *testing.T) {
	var pool intern.Pool[int, value]
	created := 0
	get := func(key int) *value {
		return pool.Get(key, func() *value { created++; return newValue(key) })
	}
	one, two := get(1), get(2)
	if *one.key != 1 || *two.key != 2 || created != 2 {
		t.Fatalf("got %d and %d after %d calls of the constructor", *one.key, *two.key, created)
	}
	if get(1) != one || get(2) != two || created != 2 {
		t.Errorf("the constructor was called %d times, want 2", created)
	}
	runtime.KeepAlive([]*value{one, two})
}

func TestPoolAdd(t *testing.T) {
	var pool intern.Pool[int, value]
	if got := pool.Find(1); got != nil {
		t.Errorf("an empty pool has %d", *got.key)
	}
	one := newValue(1)
	pool.Add(1, one)
	if pool.Find(1) != one || pool.Get(1, func() *value { return newValue(1) }) != one {
		t.Error("an added value is not found")
	}
	runtime.KeepAlive(one)
}

// TestPoolDropsUnusedValues checks that the pool drops collected values and keeps values in use.
func TestPoolDropsUnusedValues(t *testing.T) {
	var pool intern.Pool[int, value]
	created := map[int]int{}
	get := func(key int) *value {
		return pool.Get(key, func() *value { created[key]++; return newValue(key) })
	}
	const kept = 1000
	var inUse []*value
	for key := range kept {
		inUse = append(inUse, get(key))
	}
	for key := range 100 * kept {
		get(kept + key)
		if key%kept == 0 {
			runtime.GC()
		}
	}
	if n := pool.Len(); n > 10*kept {
		t.Errorf("the pool has %d values when %d are in use", n, kept)
	}
	runtime.GC()
	get(kept)
	if created[kept] != 2 {
		t.Errorf("a value that was dropped was created %d times, want 2", created[kept])
	}
	for key, value := range inUse {
		if get(key) != value || created[key] != 1 {
			t.Fatalf("value %d was in use and was created %d times", key, created[key])
		}
	}
}

func TestPoolConcurrently(t *testing.T) {
	var pool intern.Pool[int, value]
	var wait sync.WaitGroup
	for range 4 {
		wait.Go(func() {
			for i := range 1000 {
				newKeyValue := func() *value { return newValue(i % 10) }
				first := pool.Get(i%10, newKeyValue)
				if i%100 == 0 {
					runtime.GC()
				}
				if second := pool.Get(i%10, newKeyValue); first != second {
					t.Error("two values with one key are in use")
				}
				runtime.KeepAlive(first)
			}
		})
	}
	wait.Wait()
}
