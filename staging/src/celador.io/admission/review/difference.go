// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package review

import (
	"cmp"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// An operation is an operation of a JSON patch. It is a map and no struct, because an addition may
// have the value null, while a removal must not have a value.
type operation map[string]any

// difference returns the operations of a JSON patch (RFC 6902) that changes from into to, sorted by
// their paths. It replaces lists that differ as a whole. The operations touch different members, so
// their order does not change the result.
func difference(from, to map[string]any) []operation {
	var c comparison
	c.compare(from, to)
	slices.SortFunc(c.operations, func(a, b operation) int { return cmp.Compare(a["path"].(string), b["path"].(string)) })
	return c.operations
}

// A comparison collects the differences between two objects.
type comparison struct {
	operations []operation
	// path holds the keys that lead to the objects that are being compared.
	path []string
}

func (c *comparison) compare(from, to map[string]any) {
	for key := range from {
		if _, kept := to[key]; !kept {
			c.add("remove", key)
		}
	}
	for key, after := range to {
		before, existed := from[key]
		old, wasObject := before.(map[string]any)
		changed, isObject := after.(map[string]any)
		switch {
		case !existed:
			c.add("add", key)["value"] = after
		case wasObject && isObject && old != nil && changed != nil:
			c.path = append(c.path, key)
			c.compare(old, changed)
			c.path = c.path[:len(c.path)-1]
		case !equal(before, after):
			c.add("replace", key)["value"] = after
		}
	}
}

// equal compares two values of decoded JSON. reflect.DeepEqual would take twenty times as long for
// lists of objects, so equal calls it only for values of types that JSON is not decoded to.
func equal(a, b any) bool {
	switch a := a.(type) {
	case string, bool, int64, float64, nil:
		return a == b
	case []any:
		b, ok := b.([]any)
		return ok && (a == nil) == (b == nil) && slices.EqualFunc(a, b, equal)
	case map[string]any:
		b, ok := b.(map[string]any)
		return ok && (a == nil) == (b == nil) && maps.EqualFunc(a, b, equal)
	default:
		return reflect.DeepEqual(a, b)
	}
}

var pointerEscapes = strings.NewReplacer("~", "~0", "/", "~1")

// add adds an operation with the given name on a member of the object at c.path. It returns the
// operation, so that the caller can set a value.
func (c *comparison) add(name, key string) operation {
	var pointer strings.Builder
	for _, part := range append(c.path, key) {
		pointer.WriteString("/" + pointerEscapes.Replace(part))
	}
	o := operation{"op": name, "path": pointer.String()}
	c.operations = append(c.operations, o)
	return o
}
