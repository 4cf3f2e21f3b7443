// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package conversion

import (
	"maps"
	"slices"

	"github.com/google/cel-go/common/types"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"

	"celador.io/admission/cel/rulepath"

	"celador.io/apiextensions-apiserver/pkg/customresource/ruleresult"
	"celador.io/apiextensions-apiserver/pkg/customresource/ruleschema"
)

// A retypedField is a field whose name both versions have, with types that do not agree. A
// conversion does not copy its value.
type retypedField struct {
	// path leads to the field. It ends with [*] if the items of a list or the values of a map have
	// different types.
	path           rulepath.Path
	source, target *structuralschema.Structural
}

// compareIdentity finds the fields that a conversion cannot simply copy from objects of the
// source's schema to objects of the target's. It ignores apiVersion, kind and metadata, which the
// conversion itself sets.
func compareIdentity(source, target *structuralschema.Structural) identity {
	var c identity
	for _, name := range fieldNames(source, target) {
		if name == "metadata" || typeFields[name] {
			continue
		}
		c.compareField(nil, name, source, target)
	}
	return c
}

// identity holds the fields of both versions whose values cannot be copied in all objects.
type identity struct {
	retypedFields []retypedField // the types differ
	openFields    []openField    // only the target declares a type
}

// fieldNames returns the names of the fields that are compared: those that the source declares and,
// if the source also allows undeclared fields, those that the target declares.
func fieldNames(source, target *structuralschema.Structural) []string {
	names := maps.Clone(source.Properties)
	if names == nil {
		names = map[string]structuralschema.Structural{}
	}
	if ruleschema.Values(source) != nil || ruleresult.PreservesUnknown(source) {
		maps.Copy(names, target.Properties)
	}
	return slices.Sorted(maps.Keys(names))
}

func (c *identity) compareField(parent rulepath.Path, name string, source, target *structuralschema.Structural) {
	if targetField := fieldSchema(target, name); targetField != nil {
		sourceField := fieldSchema(source, name)
		if sourceField == nil {
			sourceField = &anyType
		}
		c.compare(parent.Join(rulepath.Path{{Name: name}}), sourceField, targetField)
	}
}

// anyType is the schema of the fields that an object preserves without declaring them.
var anyType structuralschema.Structural

// fieldSchema returns the schema of the field with the name: that of the property or, in a map,
// that of all values. It is nil if the schema has no such field, or if it allows the field without
// a schema.
func fieldSchema(schema *structuralschema.Structural, name string) *structuralschema.Structural {
	if property, ok := schema.Properties[name]; ok {
		return &property
	}
	return ruleschema.Values(schema)
}

func (c *identity) compare(path rulepath.Path, source, target *structuralschema.Structural) {
	if !keepsType(source, target) {
		c.retypedFields = append(c.retypedFields, retypedField{path, source, target})
		return
	}
	switch {
	case ruleresult.IsAny(target):
		return
	case ruleresult.IsAny(source), source.Items != nil && target.Items != nil && ruleresult.IsAny(source.Items) && !ruleresult.IsAny(target.Items):
		c.openFields = append(c.openFields, openField{path, target})
		return
	case source.Items != nil && target.Items != nil:
		c.compare(path.Join(rulepath.Path{{Each: true}}), source.Items, target.Items)
		return
	case ruleschema.Values(source) != nil && ruleschema.Values(target) != nil:
		c.compare(path.Join(rulepath.Path{{Each: true}}), ruleschema.Values(source), ruleschema.Values(target))
		return
	}
	if values := ruleschema.Values(target); values != nil && !ruleresult.IsAny(values) && ruleresult.PreservesUnknown(source) {
		c.openFields = append(c.openFields, openField{path, target})
	}
	for _, name := range fieldNames(source, target) {
		c.compareField(path, name, source, target)
	}
}

// keepsType reports whether conversion may copy values of the source's schema, because the target's
// schema accepts their type. It looks neither into lists, maps and objects, nor at null, which
// pruning removes where it is not allowed. If the source leaves the type open, keepsType returns
// true, since the conversion of each object checks such values (openField).
func keepsType(source, target *structuralschema.Structural) bool {
	switch {
	case ruleresult.IsAny(source) || ruleresult.IsAny(target):
		return true
	case target.XIntOrString:
		return source.XIntOrString || source.Type == "integer" || source.Type == "string"
	case source.XIntOrString:
		return false
	default:
		return source.Type == target.Type || source.Type == "integer" && target.Type == "number"
	}
}

// covers reports whether a rule that sets the fields at a path determines the field that was
// retyped: it sets that field, one above it or one in it.
func (r *retypedField) covers(path rulepath.Path) bool {
	n := min(len(path), len(r.path))
	return slices.Equal(path[:n], r.path[:n])
}

// discarded returns the path of the values that a conversion must leave out because the target does
// not accept their type. If a rule sets each item of a list, only the items are left out. Otherwise
// it is the whole list, because a list cannot lack single items. rules holds the paths that rules
// set.
func (r *retypedField) discarded(rules []rulepath.Path) rulepath.Path {
	path := r.path
	for len(path) > 0 && path[len(path)-1].Each {
		if slices.ContainsFunc(rules, func(rule rulepath.Path) bool { return len(rule) >= len(path) && r.covers(rule) }) {
			break
		}
		path = path[:len(path)-1]
	}
	return path
}

// blank returns a function that makes an empty value of a schema's type, to stand for a discarded
// item until a rule sets it.
func blank(target *structuralschema.Structural) func() any {
	switch target.Type {
	case "object":
		return func() any { return map[string]any{} }
	case "array":
		return func() any { return []any{} }
	default:
		return func() any { return nil }
	}
}

// mayMerge reports whether the result of a rule with this type may be a constructed object. The
// conversion merges constructed objects into the existing value, and replaces the value by other
// results.
func mayMerge(output *types.Type) bool {
	kind := ruleresult.Held(output).Kind()
	return kind == types.StructKind || kind == types.DynKind
}
