// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package examples

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
)

// expected holds, by directory and version, what conversion to the other version and back changes
// in an object. The comments of the examples name these changes.
var expected = map[string]map[string]func(spec map[string]any){
	"crd-alertmanager-config": {"v1alpha1": matchTypes},
	"crd-auth-config": {"v1beta1": func(spec map[string]any) {
		for _, name := range []string{"identity", "authorization"} {
			slices.SortFunc(items(spec, name), func(a, b any) int {
				return cmp.Compare(a.(map[string]any)["name"].(string), b.(map[string]any)["name"].(string))
			})
		}
	}},
	"crd-machine-health-check": {"v1beta1": func(spec map[string]any) {
		if template, ok := spec["remediationTemplate"].(map[string]any); ok {
			template["namespace"] = "default"
		}
	}},
	"crd-pipeline-run": {"v1beta1": func(spec map[string]any) {
		if timeout, ok := spec["timeout"]; ok {
			delete(spec, "timeout")
			timeouts, _ := spec["timeouts"].(map[string]any)
			if timeouts == nil {
				timeouts = map[string]any{}
				spec["timeouts"] = timeouts
			}
			timeouts["pipeline"] = timeout
		}
	}},
}

// matchTypes replaces regex by matchType in every object of a value.
func matchTypes(value map[string]any) {
	for field, below := range value {
		list, _ := below.([]any)
		for _, item := range list {
			object, ok := item.(map[string]any)
			if !ok {
				continue
			}
			if field == "matchers" || field == "sourceMatch" || field == "targetMatch" {
				if given, _ := object["matchType"].(string); given == "" {
					object["matchType"] = "="
					if object["regex"] == true {
						object["matchType"] = "=~"
					}
				}
				delete(object, "regex")
			}
			matchTypes(object)
		}
		if object, ok := below.(map[string]any); ok {
			matchTypes(object)
		}
	}
}

func items(spec map[string]any, name string) []any {
	list, _ := spec[name].([]any)
	return list
}

// FuzzRoundTrip converts random objects of every version of the examples to each other version and
// back.
func FuzzRoundTrip(f *testing.F) {
	for seed := range uint64(50) {
		f.Add(seed)
	}
	type example struct {
		*definition
		converter
	}
	var examples []example
	for _, directory := range converted {
		d := load(f, directory)
		examples = append(examples, example{d, d.converter()})
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		g := &generator{Rand: rand.New(rand.NewPCG(seed, 0)), t: t}
		for _, e := range examples {
			for _, version := range e.crd.Spec.Versions {
				object := g.object(e.definition, version.Name)
				e.expectValid(t, object)
				for _, other := range e.others(version.Name) {
					there := e.convert(t, object, other)
					e.expectValid(t, there)
					again := e.convert(t, there, version.Name)
					want := object.DeepCopy()
					if change := expected[e.directory][version.Name]; change != nil {
						change(want.Object["spec"].(map[string]any))
					}
					if diff := gocmp.Diff(want.Object, again.Object); diff != "" {
						t.Errorf("%s: %s in %s and back (-want +got):\n%s\nfrom %s\nvia  %s", e.directory, version.Name, other, diff, dump(object), dump(there))
					}
				}
			}
		}
	})
}
