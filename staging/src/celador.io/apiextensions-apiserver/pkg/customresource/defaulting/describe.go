// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package defaulting

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"celador.io/admission/cel/rulepath"
	v1 "celador.io/api/apiextensions/v1"

	"celador.io/apiextensions-apiserver/pkg/apis/apiextensions"
)

// Describe appends a sentence about each rule to the description of its field, for the OpenAPI
// documents that clients read. It changes the schema in place. It ignores rules in parts of the
// schema that declare no fields, such as anyOf.
func Describe(schema *apiextensionsv1.JSONSchemaProps, defaults apiextensions.SchemaDefaults) {
	for _, path := range slices.Sorted(maps.Keys(defaults)) {
		tokens := path.Tokens()
		edit(schema, tokens, func(at *apiextensionsv1.JSONSchemaProps) {
			for _, rule := range defaults[path] {
				describeRule(at, rule, tokens)
			}
		})
	}
}

// describeRule describes a rule in the field that it sets. at is the schema that contains the rule.
// tokens are the elements of the path to it, such as properties and spec.
func describeRule(at *apiextensionsv1.JSONSchemaProps, rule v1.DefaultRule, tokens []string) {
	if rule.Field == "" {
		if len(tokens) >= 2 && tokens[len(tokens)-2] == "properties" {
			describeField(at, rule.Rule, location(tokens[:len(tokens)-2]))
		}
		return
	}
	path, err := rulepath.ParseField(rule.Field)
	if err != nil {
		return
	}
	var field []string
	for _, step := range path {
		field = append(field, "properties", step.Name)
	}
	edit(at, field, func(target *apiextensionsv1.JSONSchemaProps) { describeField(target, rule.Rule, location(tokens)) })
}

func describeField(field *apiextensionsv1.JSONSchemaProps, rule string, self rulepath.Path) {
	sentence := fmt.Sprintf("If unset, defaults to the result of the CEL expression `%s`, where self is %s.", strings.TrimSpace(rule), selfName(self))
	if field.Description != "" {
		sentence = strings.TrimRight(field.Description, " \n") + "\n\n" + sentence
	}
	field.Description = sentence
}

// location returns the path, in objects, of the values that a schema describes. tokens are the
// elements of the path to the schema: properties and spec lead to the value spec.
func location(tokens []string) rulepath.Path {
	var path rulepath.Path
	for len(tokens) > 0 {
		if tokens[0] == "properties" && len(tokens) > 1 {
			path, tokens = append(path, rulepath.Segment{Name: tokens[1]}), tokens[2:]
			continue
		}
		path, tokens = append(path, rulepath.Segment{Each: true}), tokens[1:]
	}
	return path
}

// selfName returns what descriptions and errors call the value at a location.
func selfName(location rulepath.Path) string {
	if len(location) == 0 {
		return "the object"
	}
	return location.String()
}

// edit calls change with the schema that the tokens lead to, if there is one. Properties are values
// in a map, so each is copied and put back.
func edit(schema *apiextensionsv1.JSONSchemaProps, tokens []string, change func(*apiextensionsv1.JSONSchemaProps)) {
	if len(tokens) == 0 {
		change(schema)
		return
	}
	switch keyword := tokens[0]; {
	case keyword == "properties" && len(tokens) > 1:
		if property, ok := schema.Properties[tokens[1]]; ok {
			edit(&property, tokens[2:], change)
			schema.Properties[tokens[1]] = property
		}
	case keyword == "items" && schema.Items != nil && schema.Items.Schema != nil:
		edit(schema.Items.Schema, tokens[1:], change)
	case keyword == "additionalProperties" && schema.AdditionalProperties != nil && schema.AdditionalProperties.Schema != nil:
		edit(schema.AdditionalProperties.Schema, tokens[1:], change)
	}
}
