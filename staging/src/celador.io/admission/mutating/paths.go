// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package mutating

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// leavesOf returns the JSON pointers of what an object has that are not objects themselves,
// sorted.
func leavesOf(fields map[string]any) []string { return leavesBelow("", fields) }

func leavesBelow(path string, fields map[string]any) []string {
	var leaves []string
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		below := path + "/" + pointerPart.Replace(name)
		if object, ok := fields[name].(map[string]any); ok && len(object) > 0 {
			leaves = append(leaves, leavesBelow(below, object)...)
		} else {
			leaves = append(leaves, below)
		}
	}
	return leaves
}

var pointerPart = strings.NewReplacer("~", "~0", "/", "~1")

func leavesOfJSON(text []byte) []string {
	var fields map[string]any
	if err := json.Unmarshal(text, &fields); err != nil {
		return nil // has been merged, so it is an object
	}
	return leavesOf(fields)
}
