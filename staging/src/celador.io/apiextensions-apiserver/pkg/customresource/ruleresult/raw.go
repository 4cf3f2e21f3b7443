// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package ruleresult

import (
	"maps"
	"slices"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"

	"celador.io/apiextensions-apiserver/pkg/customresource/rulepath"
)

// raw converts a JSON value of the source, or of json.decode, to a value of a schema. It copies
// lists and maps.
func (r *Results) raw(value any, to *structuralschema.Structural) (any, *mismatch) {
	var v ref.Val
	switch value := value.(type) {
	case map[string]any:
		defer r.leave()
		if m := r.enter(0); m != nil {
			return nil, m
		}
		return r.rawMap(value, to)
	case []any:
		defer r.leave()
		if m := r.enter(0); m != nil {
			return nil, m
		}
		return r.list(len(value), func(i int) any { return value[i] }, to)
	case nil:
		v = types.NullValue
	case ref.Val:
		v = value
	default:
		v = types.DefaultTypeAdapter.NativeToValue(value)
	}
	return r.value(nil, v, to)
}

func (r *Results) rawMap(entries map[string]any, to *structuralschema.Structural) (any, *mismatch) {
	if to.Type != "object" && !isAny(to) {
		return nil, noCollection(types.MapType, to)
	}
	converted := make(map[string]any, len(entries))
	var failed *mismatch
	var failedAt string
	for name, entry := range entries {
		schema, known := fieldSchema(to, name)
		if !known {
			continue
		}
		_, declared := to.Properties[name]
		if entry == nil && declared && !schema.Nullable && !isAny(schema) {
			continue // An optional field of an object may be null in the source.
		}
		r.text += len(name)
		value, m := r.raw(entry, schema)
		if m != nil {
			// Maps have no order. The error of the entry that sorts first is returned, so that the
			// same object gives the same error.
			if failed == nil || name < failedAt {
				failed, failedAt = m, name
			}
			if r.exceeded() {
				break
			}
			continue
		}
		converted[name] = value
	}
	if failed != nil {
		return nil, failed.below(rulepath.Segment{Name: failedAt})
	}
	return converted, nil
}

// exceeded reports whether the result of the rule has more elements, more text or more nesting than
// allowed. The conversion then ends, because the rule fails anyway.
func (r *Results) exceeded() bool {
	return r.elements > MaxElements || r.text > MaxText || r.depth >= MaxDepth
}

// listFields returns the names of the properties of a schema for error messages, sorted, separated
// by commas, and at most ten.
func listFields(s *structuralschema.Structural) string {
	const listed = 10
	names := slices.Sorted(maps.Keys(s.Properties))
	text := ""
	for i, name := range names {
		if i == listed {
			return text + ", ..."
		}
		if i > 0 {
			text += ", "
		}
		text += name
	}
	return text
}
