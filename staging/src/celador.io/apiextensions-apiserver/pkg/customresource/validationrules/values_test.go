// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package validationrules_test

import (
	"maps"
	"slices"

	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apimachinery/pkg/runtime"
)

// value returns a value that conforms to a schema.
func (g *generator) value(s *structuralschema.Structural) any {
	switch {
	case s.Nullable && g.chance(30):
		return nil
	case s.XIntOrString:
		return one[any](g, int64(5), "50%", "x", int64(-1))
	}
	switch s.Type {
	case "string":
		return g.text(s)
	case "integer":
		return one(g, int64(0), int64(1), int64(3), int64(-7), int64(1)<<40)
	case "number":
		return one[any](g, 0.25, 2.5, int64(3), -1.5)
	case "boolean":
		return g.chance(50)
	case "array":
		list := []any{}
		for i := range g.IntN(4) {
			item := g.value(s.Items)
			if object, ok := item.(map[string]any); ok && len(s.XListMapKeys) > 0 {
				object["id"] = string(rune('p' + i))
			}
			list = append(list, item)
		}
		return list
	}
	object := map[string]any{}
	if s.AdditionalProperties != nil {
		keys := []string{"k", "kk", "l"}
		if g.single {
			keys = keys[:1]
		}
		for _, key := range keys {
			if g.chance(70) {
				object[key] = g.value(s.AdditionalProperties.Structural)
			}
		}
		return object
	}
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		if g.chance(80) {
			property := s.Properties[name]
			object[name] = g.value(&property)
		}
	}
	if g.chance(40) {
		g.addUnknown(object)
	}
	return object
}

// addUnknown adds or changes fields that the schema of an object does not declare.
func (g *generator) addUnknown(object map[string]any) {
	for _, name := range []string{"unknown", "un-known"}[g.IntN(2):] {
		object[name] = one[any](g, nil, "x", int64(1), map[string]any{"a": int64(1)}, []any{"x"})
	}
}

func (g *generator) text(s *structuralschema.Structural) string {
	format := ""
	if s.ValueValidation != nil {
		format = s.ValueValidation.Format
	}
	switch format {
	case "date-time":
		return one(g, "2024-02-29T12:00:00Z", "2024-02-29T13:00:00+01:00", "1999-01-01T00:00:00.5Z")
	case "date":
		return one(g, "2024-02-29", "1999-12-31")
	case "duration":
		return one(g, "1h", "60m", "3.5s")
	case "byte":
		return one(g, "YWJj", "")
	}
	return one(g, "a", "bc", "abcd", "7", "")
}

// changed returns a copy of a value with some of its parts changed, removed or moved.
func (g *generator) changed(s *structuralschema.Structural, value any) any {
	if g.chance(20) {
		return g.value(s)
	}
	switch value := runtime.DeepCopyJSONValue(value).(type) {
	case []any:
		for i := range value {
			if g.chance(40) {
				value[i] = g.changed(s.Items, value[i])
				if object, ok := value[i].(map[string]any); ok && len(s.XListMapKeys) > 0 {
					object["id"] = string(rune('p' + i))
				}
			}
		}
		if g.chance(40) {
			g.Shuffle(len(value), func(i, j int) { value[i], value[j] = value[j], value[i] })
		}
		if len(value) > 0 && g.chance(20) {
			value = value[1:]
		}
		return value
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(value)) {
			switch property, ok := s.Properties[name]; {
			case g.chance(10):
				delete(value, name)
			case ok && g.chance(50):
				value[name] = g.changed(&property, value[name])
			case s.AdditionalProperties != nil && g.chance(50):
				value[name] = g.changed(s.AdditionalProperties.Structural, value[name])
			}
		}
		if s.AdditionalProperties == nil && g.chance(20) {
			g.addUnknown(value)
		}
		return value
	default:
		return value
	}
}
