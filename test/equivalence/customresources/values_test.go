// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package customresources

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"

	"celador.io/celador/test/equivalence/harness"
)

// values generates values for schemas. wrong is the percentage of values that break their
// schema, at each node.
type values struct {
	harness.Generator
	wrong int
}

var words = []string{"a", "b", "c", "abc", "xyz", "bad", "other", "hello", "A-1", "ünï", "10.0.0.1", "2024-05-06T07:08:09Z", "1h30m", "aGVsbG8=", "", "a b", "one@example.com", "123e4567-e89b-12d3-a456-426614174000", "0123456789012345678901234567890123456789"}

// value returns a value for a schema.
func (v *values) value(s map[string]any) any {
	if v.Chance(v.wrong) {
		return harness.Pick[any](v, nil, "wrong", 7, -1, true, 1.5, []any{}, map[string]any{}, []any{nil}, map[string]any{"x": nil}, json.Number("123456789012345678901234567890"), json.Number("1e3"), json.Number("2.0"))
	}
	if s["nullable"] == true && v.Chance(20) {
		return nil
	}
	if enum := list(s, "enum"); len(enum) > 0 {
		return harness.Pick(v, enum...)
	}
	if s["x-kubernetes-int-or-string"] == true {
		return harness.Pick[any](v, 5, "50%", "x")
	}
	switch text(s, "type") {
	case "string":
		return v.word(s)
	case "integer":
		return v.IntN(17) * 3
	case "number":
		return harness.Pick[any](v, 1.5, 2, 1e10, 0.1, -3.25)
	case "boolean":
		return v.Chance(50)
	case "array":
		return v.list(s)
	case "object":
		return v.object(s)
	}
	return v.anything(2)
}

func (v *values) word(s map[string]any) string {
	pattern, err := regexp.Compile(text(s, "pattern"))
	if err != nil {
		return "a"
	}
	samples := map[string]string{"date-time": "2024-05-06T07:08:09Z", "ipv4": "10.0.0.1", "byte": "aGVsbG8=", "duration": "1h30m", "uuid": "123e4567-e89b-12d3-a456-426614174000", "email": "one@example.com"}
	if sample := samples[text(s, "format")]; sample != "" && v.Chance(90) {
		return sample
	}
	for range 100 {
		word := harness.Pick(v, words...)
		if pattern.MatchString(word) && float64(len(word)) >= number(s, "minLength", 0) && float64(len(word)) <= number(s, "maxLength", 100) {
			return word
		}
	}
	return "abc"[:min(3, int(number(s, "maxLength", 3)))]
}

// number returns a keyword of a schema that is a number.
func number(s map[string]any, keyword string, fallback float64) float64 {
	switch n := s[keyword].(type) {
	case int:
		return float64(n)
	case int64:
		return float64(n)
	case float64:
		return n
	}
	return fallback
}

func (v *values) list(s map[string]any) []any {
	items := []any{}
	for i := range v.IntN(4) {
		item := v.value(object(s, "items"))
		// Most sets and maps have no duplicates.
		if v.wrong == 0 || !v.Chance(20) {
			switch text(s, "x-kubernetes-list-type") {
			case "set":
				if text(s, "items", "type") == "integer" {
					item = i
				} else {
					item = words[i]
				}
			case "map":
				if o, ok := item.(map[string]any); ok {
					for _, key := range list(s, "x-kubernetes-list-map-keys") {
						if text(s, "items", "properties", key.(string), "type") == "string" {
							o[key.(string)] = fmt.Sprintf("%s%d", words[i], i)
						}
					}
				}
			}
		}
		items = append(items, item)
	}
	return items
}

func (v *values) object(s map[string]any) map[string]any {
	o := map[string]any{}
	if s["x-kubernetes-embedded-resource"] == true {
		o["apiVersion"], o["kind"] = "v1", "Pod"
		o["metadata"] = map[string]any{"name": "pod", "labels": map[string]any{"a": "b"}}
		if v.Chance(v.wrong) {
			o["metadata"] = harness.Pick[any](v, map[string]any{"name": "Not Valid"}, map[string]any{"labels": 5}, map[string]any{"unknown": true}, "x")
		}
	}
	required := list(s, "required")
	properties := object(s, "properties")
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		if slices.Contains(required, any(name)) && !v.Chance(v.wrong) || v.Chance(60) {
			o[name] = v.value(properties[name].(map[string]any))
		}
	}
	if additional := object(s, "additionalProperties"); additional != nil {
		for i := range v.IntN(4) {
			o[harness.Pick(v, "k", "key.with/slash", "key~tilde", "K 2")+fmt.Sprint(i)] = v.value(additional)
		}
	}
	if s["x-kubernetes-preserve-unknown-fields"] == true && v.Chance(60) {
		o["free"] = v.anything(2)
	}
	if v.Chance(v.wrong) {
		o["unknown"] = v.anything(1)
	}
	return o
}

// anything returns a value without a schema.
func (v *values) anything(depth int) any {
	if depth > 0 && v.Chance(40) {
		if v.Chance(50) {
			return []any{v.anything(depth - 1), v.anything(depth - 1)}
		}
		return map[string]any{"one": v.anything(depth - 1), "two": v.anything(depth - 1)}
	}
	return harness.Pick[any](v, "text", 5, 2.5, true, nil, "<&>\u2028", json.Number("9007199254740993"), json.Number("1.0"), "")
}
