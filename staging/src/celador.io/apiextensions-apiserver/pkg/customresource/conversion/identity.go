// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package conversion

import (
	"maps"
	"slices"

	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"

	"celador.io/apiextensions-apiserver/pkg/customresource/rulepath"
)

// A retyping is a field whose name both versions have, with types that do not agree. Such a field does not keep its value.
type retyping struct {
	// path leads to the field. It ends with [*] if the items of a list or the values of a map have different types.
	path           rulepath.Path
	source, target *structuralschema.Structural
}

// retypings returns the fields of the object itself, apart from its type and metadata, that do not keep their values.
func retypings(source, target *structuralschema.Structural) []retyping {
	var c identity
	for _, name := range slices.Sorted(maps.Keys(source.Properties)) {
		if name == "metadata" || typeFields[name] {
			continue
		}
		c.compareField(nil, name, source, target)
	}
	return c.retypings
}

// identity compares the types of the fields that two schemas have.
type identity struct{ retypings []retyping }

func (c *identity) compareField(parent rulepath.Path, name string, source, target *structuralschema.Structural) {
	sourceField, ok := source.Properties[name]
	if !ok {
		sourceField = *source.AdditionalProperties.Structural
	}
	if targetField := fieldSchema(target, name); targetField != nil {
		c.compare(parent.Join(rulepath.Path{{Name: name}}), &sourceField, targetField)
	}
}

// fieldSchema returns the schema of a field or map value. It is nil if the schema has none, or leaves its type open.
func fieldSchema(schema *structuralschema.Structural, name string) *structuralschema.Structural {
	if property, ok := schema.Properties[name]; ok {
		return &property
	}
	return valueSchema(schema)
}

func valueSchema(schema *structuralschema.Structural) *structuralschema.Structural {
	if schema.AdditionalProperties == nil {
		return nil
	}
	return schema.AdditionalProperties.Structural
}

func (c *identity) compare(path rulepath.Path, source, target *structuralschema.Structural) {
	if !keepsType(source, target) {
		c.retypings = append(c.retypings, retyping{path, source, target})
		return
	}
	if source.Items != nil && target.Items != nil {
		c.compare(path.Join(rulepath.Path{{Each: true}}), source.Items, target.Items)
		return
	}
	for _, name := range slices.Sorted(maps.Keys(source.Properties)) {
		c.compareField(path, name, source, target)
	}
	if valueSchema(source) == nil {
		return
	}
	if valueSchema(target) != nil {
		c.compare(path.Join(rulepath.Path{{Each: true}}), valueSchema(source), valueSchema(target))
		return
	}
	for _, name := range slices.Sorted(maps.Keys(target.Properties)) {
		c.compareField(path, name, source, target)
	}
}

// keepsType reports whether the target's schema accepts the types of all values that the source's schema accepts, apart
// from the values in lists, maps and objects. Null does not count: pruning removes it where it is not allowed.
func keepsType(source, target *structuralschema.Structural) bool {
	switch {
	case isUntyped(source) || isUntyped(target):
		return true
	case target.XIntOrString:
		return source.XIntOrString || source.Type == "integer" || source.Type == "string"
	case source.XIntOrString:
		return false
	default:
		return source.Type == target.Type || source.Type == "integer" && target.Type == "number"
	}
}

// isUntyped reports whether the schema accepts values of all types.
func isUntyped(s *structuralschema.Structural) bool { return s.Type == "" && !s.XIntOrString }
