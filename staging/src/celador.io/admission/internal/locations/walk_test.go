// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package locations_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/google/cel-go/common/types"
	"k8s.io/kube-openapi/pkg/validation/spec"

	"celador.io/admission/cel/rulepath"
	"celador.io/admission/internal/locations"
)

var errSpent = errors.New("spent")

// Steps are charged before they are taken: no value is visited that the caller did not pay for.
func TestCharge(t *testing.T) {
	path, err := rulepath.ParseScope("spec.items[*].name")
	if err != nil {
		t.Fatal(err)
	}
	items := func(size int) any {
		list := make([]any, size)
		for i := range list {
			list[i] = map[string]any{"name": fmt.Sprint(i)}
		}
		return map[string]any{"spec": map[string]any{"items": list}}
	}
	schema := &spec.Schema{SchemaProps: spec.SchemaProps{Properties: map[string]spec.Schema{"spec": {SchemaProps: spec.SchemaProps{Properties: map[string]spec.Schema{
		"items": {VendorExtensible: spec.VendorExtensible{Extensions: spec.Extensions{"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": []any{"name"}}}},
	}}}}}}
	for _, test := range []struct{ budget, size, old, visited int }{
		{budget: 1, size: 10, visited: 0},   // spec
		{budget: 11, size: 10, visited: 0},  // spec, items, and 10 of them
		{budget: 12, size: 10, visited: 0},  // the name of the first is not paid
		{budget: 15, size: 10, visited: 3},  // three names
		{budget: 22, size: 10, visited: 10}, // all
		{budget: 22, size: 10, old: 1, visited: 9},
		{budget: 100, size: 10, old: 100, visited: 0},
	} {
		budget, visited := test.budget, 0
		object, old := types.DefaultTypeAdapter.NativeToValue(items(test.size)), types.DefaultTypeAdapter.NativeToValue(items(test.old))
		if test.old == 0 {
			old = nil
		}
		err := locations.AtPath(path, schema).Find(object, old, func(steps int) error {
			if budget -= steps; budget < 0 {
				return errSpent
			}
			return nil
		}, func(at *locations.Location) error {
			if want := fmt.Sprintf("spec.items[%d].name", visited); string(at.Path()) != want || at.Self != types.String(fmt.Sprint(visited)) {
				t.Errorf("got %v at %s, want %s", at.Self, at.Path(), want)
			}
			visited++
			return nil
		})
		if visited != test.visited || (visited == test.size) != (err == nil) || err != nil && !errors.Is(err, errSpent) {
			t.Errorf("budget %d, old %d: visited %d, want %d: %v", test.budget, test.old, visited, test.visited, err)
		}
	}
}
