// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package mutating_test

import (
	"errors"
	"net/http"
	"testing"
	"time"

	v1 "celador.io/api/admissionregistration/v1"
	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"celador.io/admission/mutating"
	"celador.io/admission/policy"
	"celador.io/admission/policytest"
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

func TestErr(t *testing.T) {
	refusing := func(change func(*v1.Mutation)) v1.Mutation {
		m := inline("false")
		change(&m)
		return m
	}
	failing := policytest.SetData("a", "string(1 / (size(object.data) - size(object.data)))")
	unconstrained := policytest.Mutating("p", policytest.SetData("a", "'2'"))
	unconstrained.Spec.MatchConstraints = nil
	const failed = "policy 'p' with binding 'p' denied request: "
	for name, test := range map[string]struct {
		policies []*v1.MutatingAdmissionPolicy
		// causes is empty if the request is not rejected. The first cause is the message.
		causes []string
		reason metav1.StatusReason
		code   int32
	}{
		"no policies":  {},
		"applied":      {policies: []*v1.MutatingAdmissionPolicy{policytest.Mutating("p", policytest.SetData("a", "'2'"))}},
		"does nothing": {policies: []*v1.MutatingAdmissionPolicy{policytest.Mutating("p", inline("null"))}},
		"ignored":      {policies: []*v1.MutatingAdmissionPolicy{ignoring(policytest.Mutating("p", failing))}},
		"refused": {
			[]*v1.MutatingAdmissionPolicy{policytest.Mutating("p", refusing(func(m *v1.Mutation) { m.Message = new("no") }))},
			[]string{failed + "no"}, metav1.StatusReasonInvalid, http.StatusUnprocessableEntity,
		},
		"refused with a reason": {
			[]*v1.MutatingAdmissionPolicy{policytest.Mutating("p", refusing(func(m *v1.Mutation) { m.Message, m.Reason = new("no"), new(metav1.StatusReasonUnauthorized) }))},
			[]string{failed + "no"}, metav1.StatusReasonUnauthorized, http.StatusUnauthorized,
		},
		"misconfigured": {
			[]*v1.MutatingAdmissionPolicy{unconstrained},
			[]string{`policy "p" denied request: failed to configure policy: policy contained no match constraints, a required field`}, metav1.StatusReasonForbidden, http.StatusForbidden,
		},
	} {
		t.Run(name, func(t *testing.T) {
			result, err := create(on, configMap("a", "1"), test.policies...).mutate(t)
			if err != nil {
				t.Fatal(err)
			}
			rejection := result.Err()
			if test.causes == nil {
				if rejection != nil {
					t.Errorf("got %v", rejection)
				}
				return
			}
			var api *apierrors.StatusError
			if !errors.As(rejection, &api) {
				t.Fatalf("got %v, want an API error", rejection)
			}
			want := metav1.Status{
				Status: metav1.StatusFailure, Reason: test.reason, Code: test.code, Message: test.causes[0],
				Details: &metav1.StatusDetails{Kind: "configmaps", Name: "subject"},
			}
			for _, cause := range test.causes {
				want.Details.Causes = append(want.Details.Causes, metav1.StatusCause{Message: cause})
			}
			if diff := cmp.Diff(want, api.ErrStatus); diff != "" {
				t.Errorf("status differs (-want +got):\n%s", diff)
			}
		})
	}
}

// All failures are causes. The first that is not ignored gives the message, the reason and the
// code.
func TestErrOfFailures(t *testing.T) {
	s := create(on, configMap("a", "1"), policytest.Mutating("p", inline("false")))
	result, err := s.mutate(t)
	if err != nil {
		t.Fatal(err)
	}
	result.Failures = []mutating.Failure{
		{Policy: "p", Binding: "b", Message: "0", Reason: metav1.StatusReasonForbidden, Stated: true, Ignored: true},
		{Policy: "p", Binding: "b", Message: "1", Reason: metav1.StatusReasonInvalid},
		{Policy: "q", Message: "2"},
		{Policy: "r", Binding: "b", Message: "3", Ignored: true},
	}
	var api *apierrors.StatusError
	if !errors.As(result.Err(), &api) {
		t.Fatalf("got %v, want an API error", result.Err())
	}
	first, second := "policy 'p' with binding 'b' denied request: 1", `policy "q" denied request: 2`
	want := metav1.Status{
		Status: metav1.StatusFailure, Reason: metav1.StatusReasonInvalid, Code: http.StatusForbidden, Message: first,
		Details: &metav1.StatusDetails{Kind: "configmaps", Name: "subject", Causes: []metav1.StatusCause{{Message: first}, {Message: second}}},
	}
	if diff := cmp.Diff(want, api.ErrStatus); diff != "" {
		t.Errorf("status differs (-want +got):\n%s", diff)
	}
}

func TestAuditAnnotations(t *testing.T) {
	result := mutating.Result{Mutations: []mutating.Mutation{
		{Policy: "p", Binding: "b", Index: 0, Changed: true, Fields: []string{"/data/a"}},
		{Policy: "p", Binding: "b", Index: 1},
		{Policy: "p", Binding: "b", Index: 2, Changed: true, Err: errors.New("failed")},
		{Policy: "q", Binding: "c", Index: 3, Run: 1, Changed: true},
	}}
	want := []policy.Annotation{
		{Key: "mutation.policy.admission.celador.io/round_0_index_0", Value: `{"policy":"p","binding":"b","mutation":0,"fields":["/data/a"]}`},
		{Key: "mutation.policy.admission.celador.io/round_1_index_3", Value: `{"policy":"q","binding":"c","mutation":3}`},
	}
	if diff := cmp.Diff(want, result.AuditAnnotations()); diff != "" {
		t.Errorf("annotations differ (-want +got):\n%s", diff)
	}
	if got := (mutating.Result{}).AuditAnnotations(); got != nil {
		t.Errorf("without mutations, got %v", got)
	}
}
