// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package mutating_test

import (
	"testing"
	"time"

	"celador.io/admission/policytest"

	v1 "celador.io/api/admissionregistration/v1"
	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// A Mutation reports whether it changed the object, and the fields that its patch names.
func TestMutations(t *testing.T) {
	for name, test := range map[string]struct {
		mutation v1.Mutation
		changed  bool
		fields   []string
	}{
		"apply configuration":          {policytest.ApplyConfiguration(`Object{metadata: Object.metadata{labels: {"a/b~c": "1"}, name: "subject"}, data: {"x": "1"}}`), true, []string{"/data/x", "/metadata/labels/a~1b~0c", "/metadata/name"}},
		"apply what is there":          {policytest.ApplyConfiguration(`Object{data: {"a": "1"}}`), false, nil},
		"JSON patch":                   {policytest.JSONPatch(`[JSONPatch{op: "test", path: "/kind", value: "ConfigMap"}, JSONPatch{op: "add", path: "/data/z", value: "1"}, JSONPatch{op: "remove", path: "/data/a"}]`), true, []string{"/data/z", "/data/a"}},
		"JSON patch, what is there":    {policytest.SetData("a", "'1'"), false, nil},
		"JSON patch, failing test":     {policytest.JSONPatch(`[JSONPatch{op: "test", path: "/kind", value: "Pod"}, JSONPatch{op: "add", path: "/data/z", value: "1"}]`), false, nil},
		"expression":                   {inline(`JSONPatch{op: "add", path: "/data/z", value: "1"}`), true, []string{"/data/z"}},
		"expression that does nothing": {inline("null"), false, nil},
		"merge patch":                  {jsonMerge(`{"data": {"z": dyn("1"), "a": dyn(null)}}`), true, []string{"/data/a", "/data/z"}},
		"strategic merge patch":        {strategic(`{"metadata": {"annotations": {"z": "1"}}}`), true, []string{"/metadata/annotations/z"}},
	} {
		t.Run(name, func(t *testing.T) {
			object := configMap("a", "1")
			// A JSON patch drops the fraction of the second, which is not a change.
			object.CreationTimestamp = metav1.NewTime(time.Unix(1700000000, 123456789))
			result, err := create(on, object, policytest.Mutating("p", test.mutation)).mutate(t)
			if err != nil || len(result.Failures) != 0 || len(result.Mutations) != 1 {
				t.Fatalf("got %v, %v", result, err)
			}
			got := &result.Mutations[0]
			if got.Changed != test.changed {
				t.Errorf("changed is %t, want %t", got.Changed, test.changed)
			}
			if diff := cmp.Diff(test.fields, got.Fields); diff != "" {
				t.Errorf("fields (-want +got):\n%s", diff)
			}
		})
	}
}
