// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package mutating_test

import (
	"fmt"
	"testing"

	v1 "celador.io/api/admissionregistration/v1"
	"github.com/google/go-cmp/cmp"
	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"celador.io/admission/mutating"
	"celador.io/admission/policyspec"
	"celador.io/admission/policytest"
	"celador.io/admission/review"
)

// The objects of reviews are unstructured. Patches of every type apply to built-in kinds.
func TestReview(t *testing.T) {
	const object = `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"subject","namespace":"test","uid":"1"},
		"spec":{"containers":[{"name":"a","image":"a:1","resources":{"limits":{"cpu":"1"}}}],"terminationGracePeriodSeconds":9007199254740993}}`
	annotation := func(mutation int, field string) string {
		return fmt.Sprintf(`{"policy":"p","binding":"p","mutation":%d,"fields":["%s"]}`, mutation, field)
	}
	const firstKey, secondKey = "mutation.policy.admission.celador.io_round_0_index_0", "mutation.policy.admission.celador.io_round_0_index_1"
	setLabels := policytest.JSONPatch(`[JSONPatch{op: "add", path: "/metadata/labels", value: {"a/b": "c"}}]`)
	for name, test := range map[string]struct {
		mutations   []v1.Mutation
		patch       string
		annotations map[string]string
		// denial is the message with which the request is denied.
		denial string
	}{
		"nothing": {},
		"JSON patch": {
			mutations: []v1.Mutation{setLabels}, patch: `[{"op":"add","path":"/metadata/labels","value":{"a/b":"c"}}]`,
			annotations: map[string]string{firstKey: annotation(0, "/metadata/labels")},
		},
		"apply configurations": {
			mutations: []v1.Mutation{
				policytest.ApplyConfiguration("Object{spec: Object.spec{containers: [Object.spec.containers{name: 'b', image: 'b:1'}]}}"),
				policytest.ApplyConfiguration("Object{spec: Object.spec{containers: [Object.spec.containers{name: 'a', image: 'a:2'}]}}"),
			},
			patch:       `[{"op":"replace","path":"/spec/containers","value":[{"image":"a:2","name":"a","resources":{"limits":{"cpu":"1"}}},{"image":"b:1","name":"b"}]}]`,
			annotations: map[string]string{firstKey: annotation(0, "/spec/containers"), secondKey: annotation(1, "/spec/containers")},
		},
		"merge patch": {
			mutations:   []v1.Mutation{{PatchType: v1.PatchTypeJSONMergePatch, JSONMergePatch: &v1.JSONMergePatch{Expression: "{'spec': {'hostNetwork': true}}"}}},
			patch:       `[{"op":"add","path":"/spec/hostNetwork","value":true}]`,
			annotations: map[string]string{firstKey: annotation(0, "/spec/hostNetwork")},
		},
		"failure": {
			mutations:   []v1.Mutation{setLabels, policytest.JSONPatch(`[JSONPatch{op: "remove", path: "/none"}]`)},
			annotations: map[string]string{firstKey: annotation(0, "/metadata/labels")},
			denial:      "policy 'p' with binding 'p' denied request: JSON Patch: error in remove for path: '/none': Unable to remove nonexistent key: none: missing value",
		},
		"changed version": {
			mutations: []v1.Mutation{policytest.JSONPatch(`[JSONPatch{op: "replace", path: "/apiVersion", value: "v2"}]`)},
			denial:    "policy 'p' with binding 'p' denied request: may not change apiVersion and kind from /v1, Kind=Pod to /v2, Kind=Pod",
		},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := review.FromRequest(&admissionv1.AdmissionRequest{
				UID: "u1", Operation: admissionv1.Create, Name: "subject", Namespace: "test",
				Kind: metav1.GroupVersionKind{Version: "v1", Kind: "Pod"}, Resource: metav1.GroupVersionResource{Version: "v1", Resource: "pods"},
				Object: runtime.RawExtension{Raw: []byte(object)},
			})
			if err != nil {
				t.Fatal(err)
			}
			s := create(policyspec.Features{policyspec.InlineExpressions: true}, pod(), policytest.Mutating("p", test.mutations...))
			response := s.engine.Review(t.Context(), r, mutating.Options{Changes: true}, s.snapshot)
			if diff := cmp.Diff(test.annotations, response.AuditAnnotations); diff != "" {
				t.Error(diff)
			}
			if got := string(response.Patch); got != test.patch {
				t.Errorf("got  %s\nwant %s", got, test.patch)
			}
			denial := ""
			if !response.Allowed {
				denial = response.Result.Message
			}
			if denial != test.denial {
				t.Errorf("got %q, want %q", denial, test.denial)
			}
		})
	}
}
