// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package scheme_test

import (
	"math/rand"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	upstream "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/runtime"

	v1 "celador.io/api/apiextensions/v1"
	"celador.io/apiextensions-apiserver/pkg/apis/apiextensions"
	"celador.io/apiextensions-apiserver/pkg/apis/apiextensions/scheme"
)

// rules returns x-kubernetes-default with a rule.
func rules(rule string) []v1.DefaultRule { return []v1.DefaultRule{{Rule: rule, Field: "field"}} }

// with returns a schema with a rule, after the options.
func with(rule string, options ...func(*v1.JSONSchemaProps)) *v1.JSONSchemaProps {
	schema := &v1.JSONSchemaProps{Type: "object", XDefault: rules(rule)}
	for _, option := range options {
		option(schema)
	}
	return schema
}

// definitionOf returns a definition with a version for each of the schemas: v1, v2 and so on.
func definitionOf(schemas ...*v1.JSONSchemaProps) *v1.CustomResourceDefinition {
	definition := &v1.CustomResourceDefinition{}
	definition.Spec.Conversion = &v1.CustomResourceConversion{Strategy: v1.NoneConverter}
	for i, schema := range schemas {
		version := v1.CustomResourceDefinitionVersion{Name: "v" + string(rune('1'+i))}
		if schema != nil {
			version.Schema = &v1.CustomResourceValidation{OpenAPIV3Schema: schema}
		}
		definition.Spec.Versions = append(definition.Spec.Versions, version)
	}
	return definition
}

func TestExpressions(t *testing.T) {
	plain := func() *v1.JSONSchemaProps { return &v1.JSONSchemaProps{Type: "object"} }
	tests := []struct {
		name       string
		definition *v1.CustomResourceDefinition
		want       *apiextensions.ExpressionFields
		strategy   upstream.ConversionStrategyType
	}{
		{name: "plain", definition: definitionOf(plain())},
		{name: "no schema", definition: definitionOf(nil)},
		{name: "empty lists", definition: func() *v1.CustomResourceDefinition {
			definition := definitionOf(&v1.JSONSchemaProps{XDefault: []v1.DefaultRule{}})
			definition.Spec.Conversion.Converters = []v1.Converter{}
			return definition
		}()},
		{name: "root", definition: definitionOf(with("1")), want: defaultsOf("v1", "", "1")},
		{name: "properties", definition: definitionOf(with("1", func(s *v1.JSONSchemaProps) {
			s.Properties = map[string]v1.JSONSchemaProps{"a/b": *with("2"), "": *with("3"), "c": *plain()}
		})), want: defaultsOf("v1", "", "1", "/properties/a~1b", "2", "/properties/", "3")},
		{name: "items", definition: definitionOf(with("1", func(s *v1.JSONSchemaProps) {
			s.Items = &v1.JSONSchemaPropsOrArray{Schema: with("2", func(s *v1.JSONSchemaProps) {
				s.Items = &v1.JSONSchemaPropsOrArray{JSONSchemas: []v1.JSONSchemaProps{*plain(), *with("3")}}
			})}
			s.AdditionalItems = &v1.JSONSchemaPropsOrBool{Allows: true, Schema: with("4")}
		})), want: defaultsOf("v1", "", "1", "/items", "2", "/items/items/1", "3", "/additionalItems", "4")},
		{name: "additional properties", definition: definitionOf(with("1", func(s *v1.JSONSchemaProps) {
			s.AdditionalProperties = &v1.JSONSchemaPropsOrBool{Allows: true, Schema: with("2", func(s *v1.JSONSchemaProps) {
				s.AdditionalProperties = &v1.JSONSchemaPropsOrBool{Allows: true}
			})}
		})), want: defaultsOf("v1", "", "1", "/additionalProperties", "2")},
		{name: "branches", definition: definitionOf(with("1", func(s *v1.JSONSchemaProps) {
			s.AllOf = []v1.JSONSchemaProps{*plain(), *with("2")}
			s.AnyOf = []v1.JSONSchemaProps{*with("3", func(s *v1.JSONSchemaProps) { s.Not = with("4") })}
			s.OneOf = []v1.JSONSchemaProps{*with("5")}
			s.Not = with("6")
		})), want: defaultsOf("v1", "", "1", "/allOf/1", "2", "/anyOf/0", "3", "/anyOf/0/not", "4", "/oneOf/0", "5", "/not", "6")},
		{name: "maps", definition: definitionOf(with("1", func(s *v1.JSONSchemaProps) {
			s.PatternProperties = map[string]v1.JSONSchemaProps{"^a": *with("2")}
			s.Definitions = v1.JSONSchemaDefinitions{"b": *with("3")}
			s.Dependencies = v1.JSONSchemaDependencies{"c": {Schema: with("4")}, "d": {Property: []string{"e"}}}
		})), want: defaultsOf("v1", "", "1", "/patternProperties/^a", "2", "/definitions/b", "3", "/dependencies/c", "4")},
		// Kubernetes' internal version holds equal schemas once.
		{name: "versions with equal schemas", definition: definitionOf(with("1"), with("2"), plain()), want: &apiextensions.ExpressionFields{
			Defaults: map[string]apiextensions.SchemaDefaults{"v1": {"": rules("1")}, "v2": {"": rules("2")}},
		}},
		{name: "conversion rules", definition: func() *v1.CustomResourceDefinition {
			definition := definitionOf(plain())
			definition.Spec.Conversion = &v1.CustomResourceConversion{Strategy: v1.ConversionRules, Converters: []v1.Converter{{FromVersion: "v1", ToVersion: "v2"}}}
			return definition
		}(), want: &apiextensions.ExpressionFields{ConversionRules: true, Converters: []v1.Converter{{FromVersion: "v1", ToVersion: "v2"}}}},
		{name: "conversion rules with a webhook", definition: func() *v1.CustomResourceDefinition {
			definition := definitionOf(plain())
			definition.Spec.Conversion = &v1.CustomResourceConversion{Strategy: v1.ConversionRules, Webhook: &v1.WebhookConversion{ConversionReviewVersions: []string{"v1"}}}
			return definition
		}(), want: &apiextensions.ExpressionFields{ConversionRules: true}},
		{name: "tables and variables", definition: func() *v1.CustomResourceDefinition {
			definition := definitionOf(plain())
			definition.Spec.Conversion = &v1.CustomResourceConversion{Strategy: v1.ConversionRules,
				Tables:     []v1.ConversionTable{{Name: "a", Map: map[string]string{"b": "c", "": "d"}}, {Name: "e"}},
				Converters: []v1.Converter{{FromVersion: "v1", ToVersion: "v2", Variables: []v1.ConversionVariable{{Name: "f", Expression: "1"}}}}}
			return definition
		}(), want: &apiextensions.ExpressionFields{ConversionRules: true,
			Tables:     []v1.ConversionTable{{Name: "a", Map: map[string]string{"b": "c", "": "d"}}, {Name: "e"}},
			Converters: []v1.Converter{{FromVersion: "v1", ToVersion: "v2", Variables: []v1.ConversionVariable{{Name: "f", Expression: "1"}}}}}},
		{name: "tables without the strategy", definition: func() *v1.CustomResourceDefinition {
			definition := definitionOf(plain())
			definition.Spec.Conversion.Tables = []v1.ConversionTable{{Name: "a", Map: map[string]string{"b": "c"}}}
			return definition
		}(), want: &apiextensions.ExpressionFields{Tables: []v1.ConversionTable{{Name: "a", Map: map[string]string{"b": "c"}}}}},
		{name: "converters without the strategy", strategy: upstream.WebhookConverter, definition: func() *v1.CustomResourceDefinition {
			definition := definitionOf(plain())
			definition.Spec.Conversion = &v1.CustomResourceConversion{Strategy: v1.WebhookConverter, Converters: []v1.Converter{{FromVersion: "v1", ToVersion: "v2", Rules: []v1.ConversionRule{{Rule: "self"}}}}}
			return definition
		}(), want: &apiextensions.ExpressionFields{Converters: []v1.Converter{{FromVersion: "v1", ToVersion: "v2", Rules: []v1.ConversionRule{{Rule: "self"}}}}}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			original := test.definition.DeepCopy()
			for media, encoder := range encoders(codecs, v1.SchemeGroupVersion) {
				data := encode(t, encoder, test.definition)
				decoded, err := runtime.Decode(codecs.UniversalDecoder(upstream.SchemeGroupVersion), data)
				if err != nil {
					t.Fatal(err)
				}
				internal := decoded.(*apiextensions.CustomResourceDefinition)
				if diff := cmp.Diff(test.want, internal.Expressions); diff != "" {
					t.Errorf("%s: expressions differ (-want +got):\n%s", media, diff)
				}
				want := test.strategy
				if want == "" {
					want = upstream.NoneConverter
				}
				if got := internal.Spec.Conversion.Strategy; got != want {
					t.Errorf("%s: got Kubernetes' strategy %q, want %q", media, got, want)
				}
				if again := encode(t, encoder, internal); string(again) != string(data) {
					t.Errorf("%s: the internal version encodes differently (-v1 +internal):\n%s", media, cmp.Diff(string(data), string(again)))
				}
			}
			if diff := cmp.Diff(original, test.definition); diff != "" {
				t.Errorf("encoding changed the definition (-before +after):\n%s", diff)
			}
		})
	}
}

// defaultsOf returns default expressions from pairs of a path and a rule.
func defaultsOf(version string, pairs ...string) *apiextensions.ExpressionFields {
	defaults := apiextensions.SchemaDefaults{}
	for i := 0; i < len(pairs); i += 2 {
		defaults[apiextensions.SchemaPath(pairs[i])] = rules(pairs[i+1])
	}
	return &apiextensions.ExpressionFields{Defaults: map[string]apiextensions.SchemaDefaults{version: defaults}}
}

// TestExpressionsAnywhere puts expressions at random places of random schemas.
func TestExpressionsAnywhere(t *testing.T) {
	random := rand.New(rand.NewSource(2))
	placed := 0
	for i, internal := range fuzz(t, fuzzed) {
		converted, err := scheme.Scheme.ConvertToVersion(&apiextensions.CustomResourceDefinition{CustomResourceDefinition: *internal}, v1.SchemeGroupVersion)
		if err != nil {
			t.Fatal(err)
		}
		definition := converted.(*v1.CustomResourceDefinition)
		for j := range definition.Spec.Versions {
			version := &definition.Spec.Versions[j]
			version.Name = strings.Repeat("v", j+1)
			if version.Schema != nil {
				version.Schema = version.Schema.DeepCopy()
				placed += place(random, version.Schema.OpenAPIV3Schema)
			}
		}
		want := definition.DeepCopy()
		back, err := scheme.Scheme.ConvertToVersion(definition, upstream.SchemeGroupVersion)
		if err != nil {
			t.Fatal(err)
		}
		got, err := scheme.Scheme.ConvertToVersion(back.DeepCopyObject(), v1.SchemeGroupVersion)
		if err != nil {
			t.Fatal(err)
		}
		got.GetObjectKind().SetGroupVersionKind(want.GroupVersionKind())
		if !apiequality.Semantic.DeepEqual(got, want) {
			t.Fatalf("definition %d differs after a round trip (-before +after):\n%s", i, cmp.Diff(want, got))
		}
	}
	if placed < fuzzed/2 {
		t.Errorf("only %d expressions in %d definitions", placed, fuzzed)
	}
}

// place adds expressions to a schema and to those below it, and returns their number.
func place(random *rand.Rand, schema *v1.JSONSchemaProps) int {
	if schema == nil {
		return 0
	}
	placed := 0
	if random.Intn(4) > 0 {
		schema.XDefault = rules(string(rune('a' + random.Intn(26))))
		placed++
	}
	for _, list := range [][]v1.JSONSchemaProps{schema.AllOf, schema.AnyOf, schema.OneOf} {
		for i := range list {
			placed += place(random, &list[i])
		}
	}
	for _, mapping := range []map[string]v1.JSONSchemaProps{schema.Properties, schema.PatternProperties, schema.Definitions} {
		for name, below := range mapping {
			placed += place(random, &below)
			mapping[name] = below
		}
	}
	for _, dependency := range schema.Dependencies {
		placed += place(random, dependency.Schema)
	}
	for _, additional := range []*v1.JSONSchemaPropsOrBool{schema.AdditionalItems, schema.AdditionalProperties} {
		if additional != nil {
			placed += place(random, additional.Schema)
		}
	}
	if items := schema.Items; items != nil {
		placed += place(random, items.Schema)
		for i := range items.JSONSchemas {
			placed += place(random, &items.JSONSchemas[i])
		}
	}
	return placed + place(random, schema.Not)
}

// TestMisplacedExpressions converts internal definitions whose expressions have no schema.
func TestMisplacedExpressions(t *testing.T) {
	internal := func(expressions *apiextensions.ExpressionFields) *apiextensions.CustomResourceDefinition {
		converted, err := scheme.Scheme.ConvertToVersion(definitionOf(&v1.JSONSchemaProps{Type: "object"}, nil), upstream.SchemeGroupVersion)
		if err != nil {
			t.Fatal(err)
		}
		definition := converted.(*apiextensions.CustomResourceDefinition)
		definition.Expressions = expressions
		return definition
	}
	for name, expressions := range map[string]*apiextensions.ExpressionFields{
		"unknown version": defaultsOf("v3", "", "1"),
		"no schema":       defaultsOf("v2", "", "1"),
		"no property":     defaultsOf("v1", "", "1", "/properties/a", "2"),
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := scheme.Scheme.ConvertToVersion(internal(expressions), v1.SchemeGroupVersion); err == nil || !strings.Contains(err.Error(), "x-kubernetes-default of version") {
				t.Errorf("got error %v, want one about x-kubernetes-default", err)
			}
		})
	}
}
