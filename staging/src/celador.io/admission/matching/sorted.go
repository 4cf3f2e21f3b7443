// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package matching

import (
	"slices"
	"sort"
)

// sorted is a sorted list of items in chunks, none of which is empty. Immutable: changes return
// another list, which shares all but one chunk with the one before.
//
// The methods search for a key with a function that compares an item with the key. It returns a
// negative number if the item sorts before the key, and zero if the item has the key.
type sorted[T any] [][]T

// chunkSize is the maximum number of items in a chunk. A change copies one chunk and the list of
// chunks, which are about equally long for 100,000 items.
const chunkSize = 512

// search returns the chunk and the position in it of the first item that does not sort before the
// key.
func (s sorted[T]) search(compare func(T) int) (chunk, at int) {
	chunk = sort.Search(len(s), func(i int) bool { return compare(s[i][len(s[i])-1]) >= 0 })
	if chunk < len(s) {
		at = sort.Search(len(s[chunk]), func(i int) bool { return compare(s[chunk][i]) >= 0 })
	}
	return chunk, at
}

// find returns the first item with the key for which compare searches.
func (s sorted[T]) find(compare func(T) int) (item T, found bool) {
	if chunk, at := s.search(compare); chunk < len(s) && compare(s[chunk][at]) == 0 {
		return s[chunk][at], true
	}
	return item, false
}

// span returns all items with the key for which compare searches.
func (s sorted[T]) span(compare func(T) int) (found sorted[T]) {
	chunk, at := s.search(compare)
	for ; chunk < len(s); chunk, at = chunk+1, 0 {
		rest := s[chunk][at:]
		n := leading(rest, compare)
		if n > 0 {
			found = append(found, rest[:n])
		}
		if n < len(rest) {
			break
		}
	}
	return found
}

// leading returns the number of items at the beginning for which compare returns 0. Its time grows
// with the logarithm of that number, not of len(items).
func leading[T any](items []T, compare func(T) int) int {
	some := 1
	for some < len(items) && compare(items[some]) == 0 {
		some *= 2
	}
	return sort.Search(min(some, len(items)), func(i int) bool { return compare(items[i]) != 0 })
}

func (s sorted[T]) last() T { return s[len(s)-1][len(s[len(s)-1])-1] }

// len returns the number of items.
func (s sorted[T]) len() int {
	n := 0
	for _, chunk := range s {
		n += len(chunk)
	}
	return n
}

// with returns the list with the item added, or in place of the item that has the same key. compare
// compares items with the key.
func (s sorted[T]) with(item T, compare func(T) int) sorted[T] {
	if len(s) == 0 {
		return sorted[T]{{item}}
	}
	chunk, at := s.search(compare)
	if chunk == len(s) {
		chunk, at = chunk-1, len(s[chunk-1])
	}
	rest := s[chunk][at:]
	if len(rest) > 0 && compare(rest[0]) == 0 {
		rest = rest[1:]
	}
	changed := slices.Concat(s[chunk][:at], []T{item}, rest)
	if len(changed) <= chunkSize {
		return s.replace(chunk, changed)
	}
	return s.replace(chunk, slices.Clone(changed[:len(changed)/2]), slices.Clone(changed[len(changed)/2:]))
}

// without returns the list without the item that has the key for which compare searches.
func (s sorted[T]) without(compare func(T) int) sorted[T] {
	chunk, at := s.search(compare)
	if chunk == len(s) || compare(s[chunk][at]) != 0 {
		return s
	}
	if len(s[chunk]) == 1 {
		return s.replace(chunk)
	}
	return s.replace(chunk, slices.Concat(s[chunk][:at], s[chunk][at+1:]))
}

func (s sorted[T]) replace(chunk int, with ...[]T) sorted[T] {
	return slices.Concat(s[:chunk], with, s[chunk+1:])
}
