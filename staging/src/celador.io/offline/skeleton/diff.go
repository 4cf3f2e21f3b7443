// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package skeleton

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// pointerEscapes are the escapes of keys in JSON pointers (RFC 6901).
var pointerEscapes = strings.NewReplacer("~", "~0", "/", "~1")

// diff returns the operations of a JSON patch that changes before into after. path is the JSON
// pointer at which before and after stand in the whole object.
func diff(path string, before, after any) []map[string]any {
	if reflect.DeepEqual(before, after) {
		return nil
	}
	var operations []map[string]any
	switch old := before.(type) {
	case map[string]any:
		object, ok := after.(map[string]any)
		if !ok {
			break
		}
		for _, key := range slices.Sorted(maps.Keys(old)) {
			child := path + "/" + pointerEscapes.Replace(key)
			if value, found := object[key]; found {
				operations = append(operations, diff(child, old[key], value)...)
			} else {
				operations = append(operations, map[string]any{"op": "remove", "path": child})
			}
		}
		for _, key := range slices.Sorted(maps.Keys(object)) {
			if _, found := old[key]; !found {
				operations = append(operations, map[string]any{"op": "add", "path": path + "/" + pointerEscapes.Replace(key), "value": object[key]})
			}
		}
		return operations
	case []any:
		list, ok := after.([]any)
		if !ok || len(list) < len(old) {
			break
		}
		for i, value := range list {
			child := fmt.Sprintf("%s/%d", path, i)
			if i < len(old) {
				operations = append(operations, diff(child, old[i], value)...)
			} else {
				operations = append(operations, map[string]any{"op": "add", "path": path + "/-", "value": value})
			}
		}
		return operations
	}
	return []map[string]any{{"op": "replace", "path": path, "value": after}}
}
