// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package defaulting_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	structuraldefaulting "k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apimachinery/pkg/runtime"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	v1 "celador.io/api/apiextensions/v1"
	"celador.io/apiextensions-apiserver/pkg/apis/apiextensions"
	"celador.io/apiextensions-apiserver/pkg/customresource/defaulting"
)

// FuzzRules checks and evaluates arbitrary rules of an object with the fields of nested. Nothing
// may panic, objects only gain fields, and Validate does not change them.
func FuzzRules(f *testing.F) {
	for _, path := range []string{"", "/properties/spec", "/properties/spec/properties/ports/items", "/properties/spec/properties/zones/additionalProperties", "/anyOf/0", "/"} {
		for _, rule := range []v1.DefaultRule{
			{Rule: "self.metadata.name", Field: "spec.name"}, {Rule: "self", Field: "target"}, {Rule: "self.number", Field: "target"}, {Rule: "null"},
			{Rule: "Object.spec.zones{min: 1}", Field: "zones['a']"}, {Rule: "self.min + 1", Field: "size"}, {Rule: "[1].map(x, x)[5]", Field: "['x'].y"},
			{Rule: "has(self.spec) ? self.spec : null", Field: "spec"}, {Rule: "dyn(1)", Field: "labels.a"}, {Rule: "optional.none()", Field: ".size"},
		} {
			for _, object := range []string{`{}`, `null`, `{"spec": {"ports": [{"name": "a", "number": 1}, null], "zones": {"a": {}, "b": null}, "grid": [[{"x": 1}], 1]}}`, `{"spec": [1]}`} {
				f.Add(path, rule.Rule, rule.Field, object)
			}
		}
	}
	structural, _ := parse(f, nested)
	f.Fuzz(func(t *testing.T, path, rule, field, object string) {
		defaults := apiextensions.SchemaDefaults{apiextensions.SchemaPath(path): {{Rule: rule, Field: field}, {Rule: rule}}}
		errs, _ := defaulting.Validate(structural, defaults, nil, false, root)
		var content map[string]any
		if err := utiljson.Unmarshal([]byte(object), &content); err != nil || content == nil {
			return
		}
		rules := defaulting.New("widgets.example.com", structural, defaults)
		run(t, structural, rules, content)
		if len(errs) > 0 {
			t.Log(errs)
		}
	})
}

// FuzzObjects defaults arbitrary objects with the rules of the other tests.
func FuzzObjects(f *testing.F) {
	type compiled struct {
		structural *structuralschema.Structural
		rules      *defaulting.Rules
	}
	var all []compiled
	for _, text := range []string{services, chains, owners, nested, unset, creating, failing} {
		structural, rules := compile(f, text)
		all = append(all, compiled{structural, rules})
	}
	for _, object := range []string{`{}`, `{"metadata": {"name": "a"}, "spec": {}}`, `{"spec": {"ports": [{"name": "a"}], "zones": {"b": {"min": 5}}}}`,
		`{"spec": {"items": [{"alias": "a"}, {}]}}`, `{"spec": {"limits": null, "storage": {}, "inner": []}}`} {
		f.Add(object)
	}
	f.Fuzz(func(t *testing.T, object string) {
		for _, c := range all {
			var content map[string]any
			if err := utiljson.Unmarshal([]byte(object), &content); err != nil || content == nil {
				return
			}
			run(t, c.structural, c.rules, content)
		}
	})
}

// run defaults the object twice and validates it.
func run(t *testing.T, structural *structuralschema.Structural, rules *defaulting.Rules, object map[string]any) {
	structuraldefaulting.Default(object, structural)
	before := runtime.DeepCopyJSON(object)
	rules.Default(object)
	contains(t, object, before)
	if _, err := json.Marshal(object); err != nil {
		t.Fatalf("the object is no JSON: %v", err)
	}
	after := runtime.DeepCopyJSON(object)
	errs := rules.Validate(t.Context(), object, nil)
	if diff := cmp.Diff(after, object); diff != "" {
		t.Fatalf("Validate has changed the object:\n%s", diff)
	}
	if errs := rules.Validate(t.Context(), object, after); len(errs) > 0 {
		t.Fatalf("got errors %v for an object that has not changed", errs)
	}
	rules.Default(object)
	contains(t, object, after)
	if again := rules.Validate(t.Context(), object, nil); len(again) > len(errs) {
		t.Fatalf("got errors %v after %v", again, errs)
	}
}

// contains fails if a value of before is missing. Nulls may have been replaced.
func contains(t *testing.T, after, before any) {
	t.Helper()
	switch before := before.(type) {
	case nil:
	case map[string]any:
		fields, ok := after.(map[string]any)
		if !ok {
			t.Fatalf("got %v, want an object with %v", after, before)
		}
		for name, value := range before {
			contains(t, fields[name], value)
		}
	case []any:
		items, ok := after.([]any)
		if !ok || len(items) != len(before) {
			t.Fatalf("got %v, want the list %v", after, before)
		}
		for i := range before {
			contains(t, items[i], before[i])
		}
	default:
		if before != after {
			t.Fatalf("got %v, want %v", after, before)
		}
	}
}
