// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package intern_test

import (
	"runtime"
	"sync"
	"testing"

	"celador.io/admission/intern"
)

type value struct{ key *int }

func newValue(key int) *value { return &value{&key} }

func TestPool(t *testing.T) {
	var pool intern.Pool[int, value]
	made := 0
	get := func(key int) *value {
		return pool.Get(key, func() *value { made++; return newValue(key) })
	}
	one, two := get(1), get(2)
	if *one.key != 1 || *two.key != 2 || made != 2 {
		t.Fatalf("got %d and %d after %d were made", *one.key, *two.key, made)
	}
	if get(1) != one || get(2) != two || made != 2 {
		t.Errorf("%d were made, want the first again", made)
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
		t.Error("what was added is not there")
	}
	runtime.KeepAlive(one)
}

// What nobody uses any more goes, and what somebody uses does not.
func TestPoolLetsGo(t *testing.T) {
	var pool intern.Pool[int, value]
	made := map[int]int{}
	get := func(key int) *value {
		return pool.Get(key, func() *value { made[key]++; return newValue(key) })
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
	if made[kept] != 2 {
		t.Errorf("a value that was dropped was made %d times, want anew", made[kept])
	}
	for key, value := range inUse {
		if get(key) != value || made[key] != 1 {
			t.Fatalf("value %d was in use and was made %d times", key, made[key])
		}
	}
}

func TestPoolConcurrently(t *testing.T) {
	var pool intern.Pool[int, value]
	var wait sync.WaitGroup
	for range 4 {
		wait.Go(func() {
			for i := range 1000 {
				make := func() *value { return newValue(i % 10) }
				first := pool.Get(i%10, make)
				if i%100 == 0 {
					runtime.GC()
				}
				if second := pool.Get(i%10, make); first != second {
					t.Error("two values with one key are in use")
				}
				runtime.KeepAlive(first)
			}
		})
	}
	wait.Wait()
}
