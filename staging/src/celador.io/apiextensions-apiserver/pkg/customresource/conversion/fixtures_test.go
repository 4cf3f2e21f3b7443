// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package conversion_test

import (
	"context"
	"strings"
	"testing"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	v1 "celador.io/api/apiextensions/v1"

	"celador.io/apiextensions-apiserver/pkg/customresource/conversion"
)

// properties returns the schema of a YAML text.
func properties(t testing.TB, text string) *apiextensionsv1.JSONSchemaProps {
	t.Helper()
	props := &apiextensionsv1.JSONSchemaProps{}
	if err := yaml.UnmarshalStrict([]byte(text), props); err != nil {
		t.Fatal(err)
	}
	return props
}

// structural returns the structural schema of a YAML text.
func structural(t testing.TB, text string) *structuralschema.Structural {
	t.Helper()
	var internal apiextensions.JSONSchemaProps
	if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(properties(t, text), &internal, nil); err != nil {
		t.Fatal(err)
	}
	s, err := structuralschema.NewStructural(&internal)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// spec returns the schema of an object whose spec has the properties in a YAML text.
func spec(t testing.TB, fields string) *structuralschema.Structural {
	t.Helper()
	return structural(t, "type: object\nproperties:\n  spec:\n    type: object\n    properties:\n"+indent(indent(indent(fields))))
}

func indent(text string) string {
	return "  " + strings.ReplaceAll(strings.TrimRight(text, "\n"), "\n", "\n  ") + "\n"
}

// widgets returns a CRDSpec of the kind Widget with the versions v1 and v2.
func widgets(t testing.TB, v1Fields, v2Fields, rules string) *conversion.CRDSpec {
	t.Helper()
	return &conversion.CRDSpec{
		Kind: schema.GroupKind{Group: "example.com", Kind: "Widget"},
		Versions: []conversion.Version{
			{Name: "v1", Schema: spec(t, v1Fields)},
			{Name: "v2", Schema: spec(t, v2Fields)},
		},
		Converters: []v1.Converter{
			{FromVersion: "v1", ToVersion: "v2", Rules: conversionRules(t, rules)},
			{FromVersion: "v2", ToVersion: "v1"},
		},
	}
}

func conversionRules(t testing.TB, text string) []v1.ConversionRule {
	t.Helper()
	var rules []v1.ConversionRule
	if err := yaml.UnmarshalStrict([]byte(text), &rules); err != nil {
		t.Fatal(err)
	}
	return rules
}

// object returns the object of a YAML text.
func object(t testing.TB, text string) *unstructured.Unstructured {
	t.Helper()
	data, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	u := &unstructured.Unstructured{}
	if err := u.UnmarshalJSON(data); err != nil {
		t.Fatal(err)
	}
	return u
}

// widget returns a Widget in v1 named a/b with a spec.
func widget(t testing.TB, spec string) *unstructured.Unstructured {
	t.Helper()
	return object(t, "apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: b, namespace: a, uid: u}\nspec:\n"+indent(spec))
}

func convert(t testing.TB, d *conversion.CRDSpec, in *unstructured.Unstructured, to string) (*unstructured.Unstructured, error) {
	t.Helper()
	return conversion.New(d).Convert(context.Background(), in, to)
}

func repeat(text string, n int) string { return strings.Repeat(text, n) }

func contains(text, part string) bool { return strings.Contains(text, part) }
