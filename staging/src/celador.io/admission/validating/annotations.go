// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package validating

import (
	"slices"
	"strings"
)

// annotations collects the values of one policy's audit annotations. Bindings and
// parameters may give several distinct values for a key.
type annotations struct {
	keys   []string
	values map[string][]string
}

func (a *annotations) add(key, value string) {
	if a.values == nil {
		a.values = map[string][]string{}
	}
	if !slices.Contains(a.keys, key) {
		a.keys = append(a.keys, key)
	}
	if !slices.Contains(a.values[key], value) {
		a.values[key] = append(a.values[key], value)
	}
}

func (a *annotations) named(policy string) []Annotation {
	var result []Annotation
	for _, key := range a.keys {
		result = append(result, Annotation{Key: policy + "/" + key, Value: strings.Join(a.values[key], ", ")})
	}
	return result
}
