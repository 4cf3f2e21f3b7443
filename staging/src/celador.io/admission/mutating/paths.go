// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package mutating

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// fieldPaths returns the sorted JSON pointers of the innermost fields of the JSON object at path. A
// field whose value is an empty object counts as an innermost field.
func fieldPaths(path string, fields map[string]any) []string {
	var paths []string
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		below := path + "/" + pointerPart.Replace(name)
		if object, ok := fields[name].(map[string]any); ok && len(object) > 0 {
			paths = append(paths, fieldPaths(below, object)...)
		} else {
			paths = append(paths, below)
		}
	}
	return paths
}

var pointerPart = strings.NewReplacer("~", "~0", "/", "~1")

// fieldPathsOfJSON returns the field paths of an encoded JSON object.
func fieldPathsOfJSON(text []byte) []string {
	var fields map[string]any
	if err := json.Unmarshal(text, &fields); err != nil {
		return nil // cannot happen: a merge patch that was applied is an object
	}
	return fieldPaths("", fields)
}
