// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package validationrules_test

import (
	"fmt"
	"runtime"
	"testing"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apimachinery/pkg/util/validation/field"
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

// BenchmarkFirstWrite measures the first write in each of two versions, of definitions that share
// no rules.
func BenchmarkFirstWrite(b *testing.B) {
	object := crdtest.HTTPRouteObject("v1").Object
	definition := 0
	for name, write := range map[string]func(*structuralschema.Structural) field.ErrorList{
		"kubernetes": func(schema *structuralschema.Structural) field.ErrorList {
			errs, _ := cel.NewValidator(schema, true, celconfig.PerCallLimit).Validate(b.Context(), nil, schema, object, nil, celconfig.RuntimeCELCostBudget)
			return errs
		},
		"celador": func(schema *structuralschema.Structural) field.ErrorList {
			return validationrules.Take(schema, true).Validate(b.Context(), object, nil)
		},
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				b.StopTimer()
				definition++
				versions := []*structuralschema.Structural{distinct(httpRoute(b), definition), distinct(httpRoute(b), definition)}
				b.StartTimer()
				for _, schema := range versions {
					if errs := write(schema); len(errs) > 0 {
						b.Fatal(errs.ToAggregate())
					}
				}
			}
		})
	}
}

// BenchmarkHeap reports the heap that the rules of two versions hold after a write in each.
func BenchmarkHeap(b *testing.B) {
	object := crdtest.HTTPRouteObject("v1").Object
	for name, hold := range map[string]func(schema *structuralschema.Structural) any{
		"kubernetes": func(schema *structuralschema.Structural) any {
			validator := cel.NewValidator(schema, true, celconfig.PerCallLimit)
			validator.Validate(b.Context(), nil, schema, object, nil, celconfig.RuntimeCELCostBudget)
			return validator
		},
		"celador": func(schema *structuralschema.Structural) any {
			rules := validationrules.Take(schema, true)
			rules.Validate(b.Context(), object, nil)
			return rules
		},
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				const definitions = 5
				schemas := make([]*structuralschema.Structural, 2*definitions)
				for i := range schemas {
					schemas[i] = distinct(httpRoute(b), i/2)
				}
				before := inUse()
				held := make([]any, len(schemas))
				for i := range held {
					held[i] = hold(schemas[i])
				}
				b.ReportMetric((inUse()-before)/definitions, "heap-B/definition")
				runtime.KeepAlive(held)
				runtime.KeepAlive(schemas)
			}
		})
	}
}

// distinct appends a comment to all rules, so that definitions with different numbers share no
// programs.
func distinct(s *structuralschema.Structural, number int) *structuralschema.Structural {
	for i := range s.XValidations {
		s.XValidations[i].Rule += fmt.Sprintf(" // %d", number)
	}
	for name, property := range s.Properties {
		s.Properties[name] = *distinct(&property, number)
	}
	if s.Items != nil {
		distinct(s.Items, number)
	}
	return s
}

// inUse returns the bytes of heap in use.
func inUse() float64 {
	var stats runtime.MemStats
	runtime.GC()
	runtime.GC() // frees what pools kept
	runtime.ReadMemStats(&stats)
	return float64(stats.HeapAlloc)
}
