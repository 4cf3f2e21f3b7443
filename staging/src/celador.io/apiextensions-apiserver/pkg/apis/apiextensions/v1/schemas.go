// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package v1

import (
	"strconv"

	v1 "celador.io/api/apiextensions/v1"
)

// schemas walks a schema and every schema in it. That includes branches such as anyOf, in which
// validation does not allow expressions: a submitted schema can have them there, and must keep them
// until it is validated.
type schemas struct {
	// tokens leads from the root to the current schema.
	tokens []string
	// visit is called for every schema, parents first, and reports whether it changed the schema.
	visit func(tokens []string, schema *v1.JSONSchemaProps) bool
}

// walk visits the schema and those below it, and reports whether a visit changed one. It writes to
// a map of schemas only if a visit has changed a schema in it. So a walk that only reads does not
// write to maps that another goroutine may read.
func (w *schemas) walk(schema *v1.JSONSchemaProps) bool {
	if schema == nil {
		return false
	}
	changed := w.visit(w.tokens, schema)
	changed = w.mapping("properties", schema.Properties) || changed
	changed = w.mapping("patternProperties", schema.PatternProperties) || changed
	changed = w.mapping("definitions", schema.Definitions) || changed
	changed = w.list("allOf", schema.AllOf) || changed
	changed = w.list("anyOf", schema.AnyOf) || changed
	changed = w.list("oneOf", schema.OneOf) || changed
	changed = w.at(schema.Not, "not") || changed
	if items := schema.Items; items != nil {
		changed = w.at(items.Schema, "items") || changed
		changed = w.list("items", items.JSONSchemas) || changed
	}
	if additional := schema.AdditionalItems; additional != nil {
		changed = w.at(additional.Schema, "additionalItems") || changed
	}
	if additional := schema.AdditionalProperties; additional != nil {
		changed = w.at(additional.Schema, "additionalProperties") || changed
	}
	for name, dependency := range schema.Dependencies {
		changed = w.at(dependency.Schema, "dependencies", name) || changed
	}
	return changed
}

// at walks the schema that the tokens lead to from the current one.
func (w *schemas) at(schema *v1.JSONSchemaProps, tokens ...string) bool {
	depth := len(w.tokens)
	w.tokens = append(w.tokens, tokens...)
	changed := w.walk(schema)
	w.tokens = w.tokens[:depth]
	return changed
}

func (w *schemas) list(keyword string, list []v1.JSONSchemaProps) bool {
	changed := false
	for i := range list {
		changed = w.at(&list[i], keyword, strconv.Itoa(i)) || changed
	}
	return changed
}

func (w *schemas) mapping(keyword string, mapping map[string]v1.JSONSchemaProps) bool {
	changed := false
	for name, schema := range mapping {
		if w.at(&schema, keyword, name) {
			mapping[name] = schema
			changed = true
		}
	}
	return changed
}
