// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package mutating_test

import (
	"slices"
	"testing"
	"time"

	v1 "celador.io/api/admissionregistration/v1"
	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"celador.io/admission/policytest"
)

// managed returns the object with managed fields as the API server writes them: with fractions of
// seconds, and fields that JSON encodes in several ways.
func managed[T metav1.Object](object T) T {
	now := metav1.NewTime(time.Date(2026, 11, 25, 12, 0, 0, 123456789, time.UTC))
	object.SetManagedFields([]metav1.ManagedFieldsEntry{
		{Manager: "kubectl", Operation: metav1.ManagedFieldsOperationApply, APIVersion: "v1", Time: &now, FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(`{"f:metadata":{"f:labels":{".":{},"f:<a>":{}}}}`)},
		{Manager: "controller", Operation: metav1.ManagedFieldsOperationUpdate, APIVersion: "v1", FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(`{"f:status": {}}`), Subresource: "status"},
		{Manager: "other", Time: &metav1.Time{}, FieldsV1: &metav1.FieldsV1{}},
	})
	return object
}

func apply(expression string) v1.Mutation {
	return v1.Mutation{PatchType: v1.PatchTypeApplyConfiguration, ApplyConfiguration: &v1.ApplyConfiguration{Expression: expression}}
}

func jsonPatch(expression string) v1.Mutation {
	return v1.Mutation{PatchType: v1.PatchTypeJSONPatch, JSONPatch: &v1.JSONPatch{Expression: expression}}
}

// A mutation that changes metadata.managedFields fails, however it does that, and one that writes
// them as they are does not.
func TestManagedFields(t *testing.T) {
	for name, test := range map[string]struct {
		mutation v1.Mutation
		changes  bool
	}{
		"patch, remove":         {jsonPatch(`[JSONPatch{op: "remove", path: "/metadata/managedFields"}]`), true},
		"patch, remove one":     {jsonPatch(`[JSONPatch{op: "remove", path: "/metadata/managedFields/1"}]`), true},
		"patch, empty":          {jsonPatch(`[JSONPatch{op: "replace", path: "/metadata/managedFields", value: []}]`), true},
		"patch, manager":        {jsonPatch(`[JSONPatch{op: "replace", path: "/metadata/managedFields/0/manager", value: "me"}]`), true},
		"patch, operation":      {jsonPatch(`[JSONPatch{op: "replace", path: "/metadata/managedFields/0/operation", value: "Update"}]`), true},
		"patch, version":        {jsonPatch(`[JSONPatch{op: "replace", path: "/metadata/managedFields/0/apiVersion", value: "v2"}]`), true},
		"patch, time":           {jsonPatch(`[JSONPatch{op: "replace", path: "/metadata/managedFields/0/time", value: "2026-11-25T12:00:01Z"}]`), true},
		"patch, subresource":    {jsonPatch(`[JSONPatch{op: "remove", path: "/metadata/managedFields/1/subresource"}]`), true},
		"patch, fields":         {jsonPatch(`[JSONPatch{op: "replace", path: "/metadata/managedFields/1/fieldsV1", value: {"f:spec": {}}}]`), true},
		"patch, no fields":      {jsonPatch(`[JSONPatch{op: "remove", path: "/metadata/managedFields/1/fieldsV1"}]`), true},
		"patch, order":          {jsonPatch(`[JSONPatch{op: "move", from: "/metadata/managedFields/1", path: "/metadata/managedFields/0"}]`), true},
		"patch, metadata":       {jsonPatch(`[JSONPatch{op: "replace", path: "/metadata", value: {"name": "subject", "namespace": "test"}}]`), true},
		"patch, another entry":  {jsonPatch(`[JSONPatch{op: "copy", from: "/metadata/managedFields/0", path: "/metadata/managedFields/-"}]`), true},
		"patch, something else": {jsonPatch(`[JSONPatch{op: "add", path: "/metadata/labels", value: {"a": "b"}}]`), false},
		"patch, the same":       {jsonPatch(`[JSONPatch{op: "replace", path: "/metadata/managedFields", value: object.metadata.managedFields}]`), false},
		"merge, remove":         {jsonMerge(`{"metadata": {"managedFields": null}}`), true},
		"merge, something else": {jsonMerge(`{"metadata": {"labels": {"a": "b"}}}`), false},
		"apply, something else": {apply(`Object{metadata: Object.metadata{labels: {"a": "b"}}}`), false},
	} {
		for kind, object := range map[string]interface {
			runtime.Object
			metav1.Object
		}{"built in": managed(configMap("a", "b")), "custom": managed(widget(map[string]any{"size": int64(1)}))} {
			t.Run(name+", "+kind, func(t *testing.T) {
				if u, custom := object.(*unstructured.Unstructured); custom {
					object = u.DeepCopy()
				}
				before := slices.Clone(object.GetManagedFields())
				result, err := create(on, object, policytest.Mutating("p", test.mutation)).mutate(t)
				if err != nil {
					t.Fatal(err)
				}
				if test.changes {
					if diff := cmp.Diff(failure("may not change metadata.managedFields", metav1.StatusReasonInvalid, false), result.Failures); diff != "" {
						t.Errorf("failures (-want +got):\n%s", diff)
					}
					if diff := cmp.Diff(before, object.GetManagedFields()); diff != "" {
						t.Errorf("managed fields (-want +got):\n%s", diff)
					}
				} else if len(result.Failures) > 0 {
					t.Errorf("failures: %v", result.Failures)
				}
			})
		}
	}
}

// A mutation must not add managed fields to an object without any, which a server does not track.
// An empty list is none.
func TestNoManagedFields(t *testing.T) {
	for expression, changes := range map[string]bool{
		`[JSONPatch{op: "add", path: "/metadata/managedFields", value: [{"manager": "me", "operation": "Apply"}]}]`: true,
		`[JSONPatch{op: "add", path: "/metadata/managedFields", value: []}]`:                                        false,
	} {
		for _, object := range []runtime.Object{configMap("a", "b"), widget(nil)} {
			result, err := create(on, object, policytest.Mutating("p", jsonPatch(expression))).mutate(t)
			if err != nil || len(result.Failures) > 0 != changes {
				t.Errorf("%s: got %v, failures %v", expression, err, result.Failures)
			}
		}
	}
}
