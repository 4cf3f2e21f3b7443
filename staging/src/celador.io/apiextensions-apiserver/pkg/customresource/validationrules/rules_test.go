// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package validationrules_test

import (
	"context"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/warning"

	"celador.io/apiextensions-apiserver/pkg/crdtest"
	"celador.io/apiextensions-apiserver/pkg/customresource/validationrules"
)

// TestTake covers which rules are removed from a schema.
func TestTake(t *testing.T) {
	rules := apiextensionsv1.ValidationRules{{Rule: "true"}}
	text := func() structuralschema.Structural {
		s := structuralschema.Structural{Generic: structuralschema.Generic{Type: "string"}}
		s.XValidations = rules
		return s
	}
	object := func(properties map[string]structuralschema.Structural) *structuralschema.Structural {
		return &structuralschema.Structural{Generic: structuralschema.Generic{Type: "object"}, Properties: properties}
	}
	property, items, values := text(), text(), text()
	all := &structuralschema.Structural{ValueValidation: &structuralschema.ValueValidation{
		AllOf: []structuralschema.NestedValueValidation{{ValidationExtensions: structuralschema.ValidationExtensions{XValidations: rules}}},
	}}
	for name, test := range map[string]struct {
		schema *structuralschema.Structural
		want   bool
	}{
		"no schema":  {nil, false},
		"no rules":   {object(map[string]structuralschema.Structural{"a": {Generic: structuralschema.Generic{Type: "string"}}}), false},
		"property":   {object(map[string]structuralschema.Structural{"a": property}), true},
		"items":      {&structuralschema.Structural{Generic: structuralschema.Generic{Type: "array"}, Items: &items}, true},
		"map":        {&structuralschema.Structural{Generic: structuralschema.Generic{Type: "object"}, AdditionalProperties: &structuralschema.StructuralOrBool{Structural: &values}}, true},
		"only allOf": {all, false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := validationrules.Take(test.schema, true); (got != nil) != test.want {
				t.Errorf("the schema has rules: %t", got != nil)
			}
			if again := validationrules.Take(test.schema, true); again != nil {
				t.Error("rules are left in the schema")
			}
		})
	}
}

// TestValidate covers errors and warnings of a custom resource, and that a new object has no old
// values.
func TestValidate(t *testing.T) {
	valid := crdtest.HTTPRouteObject("v1").Object
	invalid := func(name string) map[string]any {
		object := runtime.DeepCopyJSON(valid)
		object["metadata"].(map[string]any)["name"] = name
		backends := object["spec"].(map[string]any)["rules"].([]any)[0].(map[string]any)["backendRefs"].([]any)
		delete(backends[1].(map[string]any), "port")
		return object
	}
	const field = "spec.rules[0].backendRefs[1]"
	rules := validationrules.Take(httpRoute(t), true)
	for name, test := range map[string]struct {
		object, old                map[string]any
		wantErrors, wantedWarnings []string
	}{
		"valid":        {object: valid},
		"created":      {object: invalid("a"), wantErrors: []string{field}},
		"became":       {object: invalid("a"), old: valid, wantErrors: []string{field}},
		"was before":   {object: invalid("a"), old: invalid("b"), wantedWarnings: []string{field + `: Invalid value: port must be set for a Service`}},
		"was repaired": {object: valid, old: invalid("a")},
	} {
		t.Run(name, func(t *testing.T) {
			warnings := &recorder{}
			errs := rules.Validate(warning.WithWarningRecorder(t.Context(), warnings), test.object, test.old)
			if diff := cmp.Diff(test.wantErrors, fields(errs)); diff != "" {
				t.Errorf("errors (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(test.wantedWarnings, warnings.texts); diff != "" {
				t.Errorf("warnings (-want +got):\n%s", diff)
			}
		})
	}
}

func fields(errs field.ErrorList) (fields []string) {
	for _, err := range errs {
		fields = append(fields, err.Field)
	}
	return fields
}

// TestConcurrentFirstWrites covers that writes that arrive together compile the rules once and
// agree. It is for the race detector.
func TestConcurrentFirstWrites(t *testing.T) {
	versions := []*validationrules.Rules{validationrules.Take(httpRoute(t), true), validationrules.Take(httpRoute(t), true)}
	valid := crdtest.HTTPRouteObject("v1").Object
	invalid := runtime.DeepCopyJSON(valid)
	invalid["spec"].(map[string]any)["rules"].([]any)[2].(map[string]any)["backendRefs"] = []any{map[string]any{"name": "a"}}
	want := []string{"spec.rules[2]", "spec.rules[2].backendRefs[0]"}

	start := make(chan struct{})
	var writes sync.WaitGroup
	for i := range 16 {
		writes.Go(func() {
			<-start
			rules := versions[i%len(versions)]
			if errs := rules.Validate(context.Background(), valid, nil); len(errs) > 0 {
				t.Errorf("write %d: %v", i, errs.ToAggregate())
			}
			if diff := cmp.Diff(want, fields(rules.Validate(context.Background(), invalid, nil))); diff != "" {
				t.Errorf("write %d (-want +got):\n%s", i, diff)
			}
		})
	}
	close(start)
	writes.Wait()
}
