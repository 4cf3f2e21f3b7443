// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package apiextensions

import (
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// A SchemaPath is the JSON pointer (RFC 6901) of a schema, relative to openAPIV3Schema, such as
// /properties/spec/additionalProperties. The root is empty.
type SchemaPath string

var (
	escaper   = strings.NewReplacer("~", "~0", "/", "~1")
	unescaper = strings.NewReplacer("~1", "/", "~0", "~")
)

// NewSchemaPath returns the path of the schema that the keywords, property names and indices lead
// to.
func NewSchemaPath(tokens ...string) SchemaPath {
	var pointer strings.Builder
	for _, token := range tokens {
		pointer.WriteByte('/')
		pointer.WriteString(escaper.Replace(token))
	}
	return SchemaPath(pointer.String())
}

// Tokens returns the keywords, property names and indices that lead to the schema. It is empty for
// the root.
func (p SchemaPath) Tokens() []string {
	if p == "" {
		return nil
	}
	tokens := strings.Split(strings.TrimPrefix(string(p), "/"), "/")
	for i, token := range tokens {
		tokens[i] = unescaper.Replace(token)
	}
	return tokens
}

// Field returns the field path of the schema. root is the field path of openAPIV3Schema. The path
// is written as in Kubernetes' validation errors: properties[spec].anyOf[0].items.
func (p SchemaPath) Field(root *field.Path) *field.Path {
	path := root
	rest := strings.TrimPrefix(string(p), "/")
	for rest != "" {
		var keyword string
		keyword, rest, _ = strings.Cut(rest, "/")
		path = path.Child(keyword)
		token, after, _ := strings.Cut(rest, "/")
		switch keyword {
		case "properties", "patternProperties", "definitions", "dependencies":
			path, rest = path.Key(unescaper.Replace(token)), after
		case "allOf", "anyOf", "oneOf", "items":
			// The field items holds either one schema or a list of schemas.
			if index, err := strconv.Atoi(token); err == nil {
				path, rest = path.Index(index), after
			}
		}
	}
	return path
}
