// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package locations_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
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

// Items with the same keys are compared in their order, and those for which there is no old one with
// the first: an update that changes nothing compares no different items.
func TestItemsWithTheSameKeys(t *testing.T) {
	path, err := rulepath.ParseScope("env[*]")
	if err != nil {
		t.Fatal(err)
	}
	schema := &spec.Schema{SchemaProps: spec.SchemaProps{Properties: map[string]spec.Schema{
		"env": {VendorExtensible: spec.VendorExtensible{Extensions: spec.Extensions{"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": []any{"name"}}}},
	}}}
	object := func(text string) ref.Val {
		env := []any{}
		for _, item := range strings.Fields(text) {
			env = append(env, map[string]any{"name": item[:1], "value": item[1:]})
		}
		return types.DefaultTypeAdapter.NativeToValue(map[string]any{"env": env})
	}
	value := func(item ref.Val) string {
		if item == nil {
			return "-"
		}
		return fmt.Sprint(item.(traits.Mapper).Get(types.String("value")).Value())
	}
	for _, test := range []struct{ env, old, want string }{
		{"A1 A2", "A1 A2", "1=1 2=2 "},
		{"A1 B3 A2 A4", "A1 A2 B3 A4", "1=1 3=3 2=2 4=4 "},
		{"A1 A2 A3", "A1 A2", "1=1 2=2 3=1 "},
		{"A1 A2 B1", "A5", "1=5 2=5 1=- "},
		{"A2", "A1 A2", "2=1 "},
	} {
		got := ""
		err := locations.AtPath(path, schema).Find(object(test.env), object(test.old), func(int) error { return nil }, func(at *locations.Location) error {
			got += value(at.Self) + "=" + value(at.OldSelf) + " "
			return nil
		})
		if got != test.want || err != nil {
			t.Errorf("%s of %s: got %s, want %s: %v", test.env, test.old, got, test.want, err)
		}
	}
}
