// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package measure

import "time"

// evicted is the number of bytes that Evict writes. It is many times the size of a core's own
// caches, and more than the part of a shared cache that one core can fill.
const evicted = 96 << 20

// line is the size of a line of the processor's caches in bytes.
const line = 64

// A Cache is memory that is written to evict other data from the processor's caches. It is not safe
// for concurrent use.
type Cache struct{ memory []byte }

// NewCache returns a cache, which holds 96 MiB.
func NewCache() *Cache { return &Cache{make([]byte, evicted)} }

// Evict fills the caches with other data.
func (c *Cache) Evict() {
	for i := 0; i < len(c.memory); i += line {
		c.memory[i]++
	}
}

// Cold returns the nanoseconds that one call of each function takes with cold caches. It calls each
// function once in each round, after evicting the caches, and returns the median of each. It
// returns the first error of a call.
func Cold(rounds int, calls ...func() error) ([]float64, error) {
	cache, samples := NewCache(), make([][]float64, len(calls))
	for range rounds {
		for i, call := range calls {
			cache.Evict()
			start := time.Now()
			if err := call(); err != nil {
				return nil, err
			}
			samples[i] = append(samples[i], float64(time.Since(start)))
		}
	}
	medians := make([]float64, len(calls))
	for i := range samples {
		medians[i] = Percentile(samples[i], 50)
	}
	return medians, nil
}
