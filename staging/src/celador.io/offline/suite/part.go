// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package suite

import (
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/equality"
)

// checkObject compares the object of the response with the fields that a case expects. It adds a
// mismatch for each field of part that is missing in got or has a different value there.
func (c *checker) checkObject(part, got map[string]any) {
	count := len(c.mismatches)
	c.checkPart("object", part, got, false)
	if len(c.mismatches) > count {
		c.differences = append(c.differences, Difference{Field: "object", Want: withPart(got, part).(map[string]any), Got: got})
	}
}

// withPart returns a copy of value with the fields of part. A Difference shows it as the expected
// object, because a diff from part alone would also show the fields that the case does not compare.
func withPart(value, part any) any {
	switch part := part.(type) {
	case map[string]any:
		object, _ := value.(map[string]any)
		result := maps.Clone(object)
		if result == nil {
			result = map[string]any{}
		}
		for key, field := range part {
			if field == nil {
				delete(result, key)
			} else {
				result[key] = withPart(object[key], field)
			}
		}
		return result
	case []any:
		list, _ := value.([]any)
		if len(list) != len(part) {
			return part
		}
		result := make([]any, len(part))
		for i := range part {
			result[i] = withPart(list[i], part[i])
		}
		return result
	}
	return part
}

// checkPart adds a mismatch for each field of want that is missing in got or has a different value
// there. If whole is set, it also adds one for each field of got that is missing in want. path is
// the field of the expectation for the mismatches. A null in want means that the field must be
// absent.
func (c *checker) checkPart(path string, want, got any, whole bool) {
	switch want := want.(type) {
	case map[string]any:
		object, ok := got.(map[string]any)
		if !ok {
			c.fail(path, toJSON(want), toJSON(got))
			return
		}
		for key, value := range sorted(want) {
			actual, found := object[key]
			switch {
			case value == nil && found && actual != nil:
				c.fail(path+"."+key, "no such field", toJSON(actual))
			case value != nil && !found:
				c.fail(path+"."+key, toJSON(value), "no such field")
			case value != nil:
				c.checkPart(path+"."+key, value, actual, whole)
			}
		}
		for key, value := range sorted(object) {
			if _, found := want[key]; whole && !found {
				c.fail(path+"."+key, "no such field", toJSON(value))
			}
		}
	case []any:
		list, ok := got.([]any)
		if !ok || len(list) != len(want) {
			c.fail(path, toJSON(want), toJSON(got))
			return
		}
		for i, value := range want {
			c.checkPart(fmt.Sprintf("%s[%d]", path, i), value, list[i], whole)
		}
	default:
		if !equality.Semantic.DeepEqual(number(want), number(got)) {
			c.fail(path, toJSON(want), toJSON(got))
		}
	}
}

// number returns an integer as a floating-point number if no precision is lost, so that 1 and 1.0
// are equal: some decoders read 1.0 as an integer.
func number(value any) any {
	if i, ok := value.(int64); ok && int64(float64(i)) == i {
		return float64(i)
	}
	return value
}

func toJSON(value any) string {
	text, err := json.Marshal(value)
	if err != nil {
		return fmt.Sprint(value)
	}
	return string(text)
}

func quoted(texts []string) string {
	var parts []string
	for _, text := range texts {
		parts = append(parts, fmt.Sprintf("%q", text))
	}
	return "[" + strings.Join(parts, ", ") + "]"
}

// sorted iterates over a map in the order of its keys.
func sorted[K ~string, V any](m map[K]V) iter.Seq2[K, V] {
	return func(yield func(K, V) bool) {
		for _, key := range keys(m) {
			if !yield(key, m[key]) {
				return
			}
		}
	}
}

func keys[K ~string, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }
