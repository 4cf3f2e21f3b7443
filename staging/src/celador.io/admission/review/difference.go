// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package review

import (
	"maps"
	"reflect"
	"slices"
	"strings"
)

// An operation is one of a JSON patch. A map, because null is a value and a removal has none.
type operation map[string]any

var pointerEscapes = strings.NewReplacer("~", "~0", "/", "~1")

// difference appends the operations that turn one JSON object into another, in the order of keys.
// Lists that differ are replaced as a whole.
func difference(operations []operation, path string, from, to map[string]any) []operation {
	for _, key := range slices.Sorted(maps.Keys(from)) {
		if _, kept := to[key]; !kept {
			operations = append(operations, operation{"op": "remove", "path": member(path, key)})
		}
	}
	for _, key := range slices.Sorted(maps.Keys(to)) {
		before, existed := from[key]
		after := to[key]
		fields, wasObject := before.(map[string]any)
		changed, isObject := after.(map[string]any)
		switch {
		case !existed:
			operations = append(operations, operation{"op": "add", "path": member(path, key), "value": after})
		case wasObject && isObject && fields != nil && changed != nil:
			operations = difference(operations, member(path, key), fields, changed)
		case !reflect.DeepEqual(before, after):
			operations = append(operations, operation{"op": "replace", "path": member(path, key), "value": after})
		}
	}
	return operations
}

// member returns the JSON pointer to a member of the object at path.
func member(path, key string) string { return path + "/" + pointerEscapes.Replace(key) }
