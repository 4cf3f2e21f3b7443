// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package validationrules_test

import (
	"testing"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	celconfig "k8s.io/apiserver/pkg/apis/cel"

	"celador.io/apiextensions-apiserver/pkg/crdtest"
	"celador.io/apiextensions-apiserver/pkg/customresource/validationrules"
)

func structural(t testing.TB, schema *apiextensionsv1.JSONSchemaProps) *structuralschema.Structural {
	t.Helper()
	internal := &apiextensions.JSONSchemaProps{}
	if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(schema, internal, nil); err != nil {
		t.Fatal(err)
	}
	s, err := structuralschema.NewStructural(internal)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func httpRoute(t testing.TB) *structuralschema.Structural {
	return structural(t, crdtest.HTTPRoute("v1").Spec.Versions[0].Schema.OpenAPIV3Schema)
}

func BenchmarkValidate(b *testing.B) {
	object := crdtest.HTTPRouteObject("v1").Object
	b.Run("kubernetes", func(b *testing.B) {
		schema := httpRoute(b)
		validator := cel.NewValidator(schema, true, celconfig.PerCallLimit)
		b.ReportAllocs()
		for b.Loop() {
			if errs, _ := validator.Validate(b.Context(), nil, schema, object, nil, celconfig.RuntimeCELCostBudget); len(errs) > 0 {
				b.Fatal(errs.ToAggregate())
			}
		}
	})
	b.Run("celador", func(b *testing.B) {
		rules := validationrules.Take(httpRoute(b), true)
		b.ReportAllocs()
		for b.Loop() {
			if errs := rules.Validate(b.Context(), object, nil); len(errs) > 0 {
				b.Fatal(errs.ToAggregate())
			}
		}
	})
}

func BenchmarkFirstWrite(b *testing.B) {
	object := crdtest.HTTPRouteObject("v1").Object
	b.Run("kubernetes", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			for range 2 {
				schema := httpRoute(b)
				validator := cel.NewValidator(schema, true, celconfig.PerCallLimit)
				validator.Validate(b.Context(), nil, schema, object, nil, celconfig.RuntimeCELCostBudget)
			}
		}
	})
	b.Run("celador", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			versions := []*validationrules.Rules{validationrules.Take(httpRoute(b), true), validationrules.Take(httpRoute(b), true)}
			for _, rules := range versions {
				rules.Validate(b.Context(), object, nil)
			}
		}
	})
}
