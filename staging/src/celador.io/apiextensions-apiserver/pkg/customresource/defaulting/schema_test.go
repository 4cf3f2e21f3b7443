// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package defaulting_test

import (
	"testing"

	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"

	v1 "celador.io/api/apiextensions/v1"
	"celador.io/apiextensions-apiserver/pkg/apis/apiextensions"
	conversions "celador.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"celador.io/apiextensions-apiserver/pkg/customresource/defaulting"
	"celador.io/apiextensions-apiserver/pkg/customresource/schemas"
)

var root = field.NewPath("schema")

// parse returns the structural schema and the default rules of a schema in YAML.
func parse(t testing.TB, text string) (*structuralschema.Structural, apiextensions.SchemaDefaults) {
	t.Helper()
	var schema v1.JSONSchemaProps
	if err := yaml.UnmarshalStrict([]byte(text), &schema); err != nil {
		t.Fatal(err)
	}
	crd := &v1.CustomResourceDefinition{}
	crd.Spec.Versions = []v1.CustomResourceDefinitionVersion{{Name: "v1", Schema: &v1.CustomResourceValidation{OpenAPIV3Schema: &schema}}}
	part, expressions, err := conversions.Split(crd)
	if err != nil {
		t.Fatal(err)
	}
	internal, err := schemas.InternalSchema(part.Spec.Versions[0].Schema)
	if err != nil {
		t.Fatal(err)
	}
	structural, err := structuralschema.NewStructural(internal)
	if err != nil {
		t.Fatal(err)
	}
	if expressions == nil {
		return structural, nil
	}
	return structural, expressions.Defaults["v1"]
}

// compile returns the rules of a valid schema in YAML.
func compile(t testing.TB, text string) (*structuralschema.Structural, *defaulting.Rules) {
	t.Helper()
	structural, defaults := parse(t, text)
	if errs, _ := defaulting.Validate(structural, defaults, nil, false, root); len(errs) > 0 {
		t.Fatal(errs)
	}
	return structural, defaulting.New("widgets.example.com", structural, defaults)
}

func object(t testing.TB, text string) map[string]any {
	t.Helper()
	if text == "" {
		return nil
	}
	var object map[string]any
	if err := utilyaml.Unmarshal([]byte(text), &object); err != nil {
		t.Fatal(err)
	}
	return object
}
