// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package values

import (
	"reflect"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
)

var (
	literalList = reflect.TypeOf(types.NewRefValList(types.DefaultTypeAdapter, nil))
	literalMap  = reflect.TypeOf(types.NewRefValMap(types.DefaultTypeAdapter, nil))
)

// LiteralElements returns the elements of a list that holds CEL values in a slice, such as a list
// literal or a result of map(). It returns false for other lists, and converts nothing: the Value
// method of a concatenation converts all elements, which can take exponential time if they are
// objects that expressions construct. The caller must not change the slice.
func LiteralElements(list ref.Val) ([]ref.Val, bool) {
	if reflect.TypeOf(list) != literalList {
		return nil, false
	}
	elements, ok := list.Value().([]ref.Val)
	return elements, ok
}

// LiteralEntries returns the entries of a map that holds CEL values in a Go map, such as a map
// literal. It returns false for other maps, and converts nothing. The caller must not change the
// Go map.
func LiteralEntries(entries ref.Val) (map[ref.Val]ref.Val, bool) {
	if reflect.TypeOf(entries) != literalMap {
		return nil, false
	}
	literal, ok := entries.Value().(map[ref.Val]ref.Val)
	return literal, ok
}

// IsGoData reports whether a list or map is backed by Go data instead of CEL values. Go data is a
// tree: unlike CEL values, it contains no part twice, so that its size in memory bounds the time to
// walk it.
func IsGoData(v ref.Val) bool {
	switch reflect.TypeOf(v) {
	case literalList:
		_, literal := LiteralElements(v)
		return !literal
	case literalMap:
		_, literal := LiteralEntries(v)
		return !literal
	default:
		return IsView(v)
	}
}
