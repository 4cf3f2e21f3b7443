// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package foreign_test

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"celador.io/offline/foreign"
	"celador.io/offline/suite"
)

// A schema is a JSON schema with the keywords of the schema of suites.
type schema struct {
	Ref                  string             `json:"$ref"`
	Type                 string             `json:"type"`
	Const                any                `json:"const"`
	Enum                 []any              `json:"enum"`
	Required             []string           `json:"required"`
	Properties           map[string]*schema `json:"properties"`
	AdditionalProperties json.RawMessage    `json:"additionalProperties"`
	PropertyNames        *schema            `json:"propertyNames"`
	Items                *schema            `json:"items"`
	MinItems             int                `json:"minItems"`
	MinLength            int                `json:"minLength"`
	Minimum              *float64           `json:"minimum"`
	AnyOf                []*schema          `json:"anyOf"`
	OneOf                []*schema          `json:"oneOf"`
	Definitions          map[string]*schema `json:"definitions"`
	// Keywords without an effect on validity.
	Schema      string `json:"$schema"`
	Title       string `json:"title"`
	Description string `json:"description"`
	Format      string `json:"format"`
}

// violations returns what is invalid in a value.
func (s *schema) violations(root *schema, path string, value any) []string {
	var found []string
	fail := func(format string, args ...any) { found = append(found, path+": "+fmt.Sprintf(format, args...)) }
	valid := func(other *schema) bool { return len(other.violations(root, path, value)) == 0 }
	if name, ok := strings.CutPrefix(s.Ref, "#/definitions/"); ok {
		found = root.Definitions[name].violations(root, path, value)
	}
	if s.Const != nil && s.Const != value || s.Enum != nil && !slices.Contains(s.Enum, value) {
		fail("%v is not %v %v", value, s.Const, s.Enum)
	}
	if s.AnyOf != nil && !slices.ContainsFunc(s.AnyOf, valid) {
		fail("is none of anyOf")
	}
	if matching := len(slices.DeleteFunc(slices.Clone(s.OneOf), func(o *schema) bool { return !valid(o) })); s.OneOf != nil && matching != 1 {
		fail("is %d of oneOf", matching)
	}
	kind := map[bool]string{true: "integer"}[fmt.Sprintf("%T", value) == "float64"]
	switch value := value.(type) {
	case map[string]any:
		kind = "object"
		for _, name := range s.Required {
			if _, ok := value[name]; !ok {
				fail("%s is required", name)
			}
		}
		for key, child := range value {
			if s.PropertyNames != nil {
				found = append(found, s.PropertyNames.violations(root, path+" name", key)...)
			}
			of := s.Properties[key]
			if of == nil && len(s.AdditionalProperties) > 0 && string(s.AdditionalProperties) != "true" {
				if string(s.AdditionalProperties) == "false" {
					fail("%s is not allowed", key)
					continue
				}
				of = &schema{}
				if err := json.Unmarshal(s.AdditionalProperties, of); err != nil {
					fail("%v", err)
				}
			}
			if of != nil {
				found = append(found, of.violations(root, path+"."+key, child)...)
			}
		}
	case []any:
		kind = "array"
		if len(value) < s.MinItems {
			fail("has %d items", len(value))
		}
		for i, item := range value {
			if s.Items != nil {
				found = append(found, s.Items.violations(root, fmt.Sprintf("%s[%d]", path, i), item)...)
			}
		}
	case string:
		if kind = "string"; len(value) < s.MinLength {
			fail("is too short")
		}
	case bool:
		kind = "boolean"
	case float64:
		if s.Minimum != nil && value < *s.Minimum {
			fail("%v is too small", value)
		}
	case nil:
		kind = "null"
	}
	if s.Type != "" && s.Type != kind {
		fail("is a %s, not a %s", kind, s.Type)
	}
	return found
}

// TestConvertedSuitesFollowTheSchema validates the converted suites of testdata by the schema that
// editors read.
func TestConvertedSuitesFollowTheSchema(t *testing.T) {
	text, err := os.ReadFile("../suite/schema.json")
	if err != nil {
		t.Fatal(err)
	}
	root := &schema{}
	decoder := json.NewDecoder(strings.NewReader(string(text)))
	decoder.DisallowUnknownFields() // a keyword that this test does not know
	if err := decoder.Decode(root); err != nil {
		t.Fatal(err)
	}
	loader := &suite.Loader{Formats: foreign.Formats()}
	files, err := loader.Find("testdata")
	if err != nil {
		t.Fatal(err)
	}
	skipped := 0
	for _, file := range files {
		documents, err := loader.Convert(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, document := range documents {
			var value any
			if err := json.Unmarshal(document.Raw(), &value); err != nil {
				t.Fatal(err)
			}
			skipped += strings.Count(string(document.Raw()), `"skip":`)
			for _, violation := range root.violations(root, file, value) {
				t.Error(violation)
			}
		}
	}
	if skipped == 0 {
		t.Error("no suite has a case that is skipped")
	}
}
