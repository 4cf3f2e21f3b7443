// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package ruleschema resolves the paths of conversion rules and default rules in structural
// schemas.
package ruleschema

import (
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	apiservercel "k8s.io/apiserver/pkg/cel"

	"celador.io/admission/cel/rulepath"
	"celador.io/admission/spelling"
)

// Resolve returns the schema at a path in a schema. It returns an error if the schema has no
// property for a segment, or has properties where the path has [*]. The error names the segment and
// what to write instead.
func Resolve(p rulepath.Path, schema *structuralschema.Structural) (*structuralschema.Structural, error) {
	for i, segment := range p {
		next := below(schema, segment)
		if next == nil {
			return nil, unresolved(p, i, schema)
		}
		schema = next
	}
	return schema, nil
}

// below returns the schema that a segment leads to, or nil if there is none.
func below(schema *structuralschema.Structural, segment rulepath.Segment) *structuralschema.Structural {
	switch {
	case segment.Item:
		return schema.Items
	case segment.Each && schema.Items != nil:
		return schema.Items
	case !segment.Each:
		if property, ok := schema.Properties[segment.Name]; ok {
			return &property
		}
	}
	return Values(schema)
}

// Values returns the schema of the values of a map. It is nil if the schema is not that of a map,
// or does not describe the values.
func Values(schema *structuralschema.Structural) *structuralschema.Structural {
	if schema.AdditionalProperties == nil {
		return nil
	}
	return schema.AdditionalProperties.Structural
}

// unresolved returns the error of Resolve if segment i leads to nothing in schema, which is the
// schema of the value before the segment. The error says what to write instead.
func unresolved(p rulepath.Path, i int, schema *structuralschema.Structural) error {
	parent, segment := p[:i], p[i]
	switch {
	case schema.XIntOrString:
		return fmt.Errorf("%s is an integer or a string and has no fields", parent.Describe())
	case segment.Each && len(schema.Properties) > 0:
		return fmt.Errorf("%s is an object with fields, and [*] is for the entries of lists and maps: write the name of a field, such as %s",
			parent.Describe(), parent.Join(rulepath.Path{{Name: firstName(schema)}}))
	case schema.Items != nil:
		return fmt.Errorf("%s is a list, which has no field %s: write %s in scope to run the rule for every item",
			parent.Describe(), quote(segment.Name), parent.Join(rulepath.Path{{Each: true}}))
	case schema.Type != "" && schema.Type != "object":
		return fmt.Errorf("%s is %s and has no fields%s", parent.Describe(), withArticle(schema.Type), keyHint(p, i))
	case segment.Each:
		return fmt.Errorf("%s has neither items nor additionalProperties in the schema: declare them to run rules for its entries", parent.Describe())
	}
	if name := nearest(segment.Name, schema.Properties); name != "" {
		return fmt.Errorf("%s has no field %s: did you mean %q?", parent.Describe(), quote(segment.Name), name)
	}
	if i == 0 && (segment.Name == "self" || segment.Name == "oldSelf" || segment.Name == "Object" || segment.Name == "$") {
		return fmt.Errorf("paths start at the object: write %q instead of %q", rulepath.Abbreviate(p[1:].String()), rulepath.Abbreviate(p.String()))
	}
	if schema.XPreserveUnknownFields || schema.AdditionalProperties != nil {
		return fmt.Errorf("%s has no field %s in the schema, only unknown fields: declare the field in the schema, or set %s as a whole",
			parent.Describe(), quote(segment.Name), parent.Describe())
	}
	if len(schema.Properties) == 0 {
		return fmt.Errorf("%s has no fields in the schema: declare the field %s", parent.Describe(), quote(segment.Name))
	}
	return fmt.Errorf("%s has no field %s: its fields are %s", parent.Describe(), quote(segment.Name), ListNames(maps.Keys(schema.Properties)))
}

// keyHint suggests quotes where a key that contains dots was probably written without them, as in
// metadata.labels.example.com.
func keyHint(p rulepath.Path, i int) string {
	const field = 2 // metadata.labels
	if i <= field || p[0].Name != "metadata" || p[1].Name != "labels" && p[1].Name != "annotations" {
		return ""
	}
	var key []string
	for _, segment := range p[field:] {
		key = append(key, segment.Name)
	}
	return fmt.Sprintf(": write %s", rulepath.Abbreviate(p[:field].Join(rulepath.Path{{Name: strings.Join(key, ".")}}).String()))
}

// listedNames is how many names of fields an error lists.
const listedNames = 10

func quote(name string) string { return fmt.Sprintf("%q", rulepath.Abbreviate(name)) }

func withArticle(typeName string) string {
	if strings.HasPrefix(typeName, "i") || strings.HasPrefix(typeName, "a") {
		return "an " + typeName
	}
	return "a " + typeName
}

func firstName(schema *structuralschema.Structural) string {
	return slices.Min(slices.Collect(maps.Keys(schema.Properties)))
}

// ListNames lists names of fields for an error, sorted and at most ten.
func ListNames(fields iter.Seq[string]) string {
	names := slices.Sorted(fields)
	if len(names) > listedNames {
		names = append(names[:listedNames], "...")
	}
	for i, name := range names {
		names[i] = rulepath.Abbreviate(name)
	}
	return strings.Join(names, ", ")
}

// nearest returns the property whose name resembles a name most, or "" if none does.
func nearest(name string, properties map[string]structuralschema.Structural) string {
	if unescaped, ok := apiservercel.Unescape(name); ok && unescaped != name {
		if _, ok := properties[unescaped]; ok {
			return unescaped
		}
	}
	return spelling.Nearest(name, maps.Keys(properties))
}
