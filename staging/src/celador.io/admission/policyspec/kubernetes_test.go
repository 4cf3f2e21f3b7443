// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package policyspec_test

import (
	"encoding/json"
	"reflect"
	"testing"

	v1 "celador.io/api/admissionregistration/v1"
	"github.com/google/go-cmp/cmp"
	kubernetesv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"celador.io/admission/policyspec"
)

func TestFromKubernetes(t *testing.T) {
	for name, test := range map[string]struct{ from, to runtime.Object }{
		"validating policy":  {&kubernetesv1.ValidatingAdmissionPolicy{}, &v1.ValidatingAdmissionPolicy{}},
		"validating binding": {&kubernetesv1.ValidatingAdmissionPolicyBinding{}, &v1.ValidatingAdmissionPolicyBinding{}},
		"mutating policy":    {&kubernetesv1.MutatingAdmissionPolicy{}, &v1.MutatingAdmissionPolicy{}},
		"mutating binding":   {&kubernetesv1.MutatingAdmissionPolicyBinding{}, &v1.MutatingAdmissionPolicyBinding{}},
	} {
		t.Run(name, func(t *testing.T) {
			object := test.from.(metav1.Object)
			object.SetName("n")
			object.SetLabels(map[string]string{"a": "b"})
			object.SetGeneration(3)
			test.from.GetObjectKind().SetGroupVersionKind(kubernetesv1.SchemeGroupVersion.WithKind("Kind"))
			fill(reflect.ValueOf(test.from).Elem().FieldByName("Spec"), "spec")
			if policy, ok := test.from.(*kubernetesv1.ValidatingAdmissionPolicy); ok {
				policy.Status.ObservedGeneration = 2
				policy.Status.Conditions = []metav1.Condition{{Type: "Ready"}}
				fill(reflect.ValueOf(&policy.Status.TypeChecking).Elem(), "status")
			}
			got, err := policyspec.FromKubernetes(test.from)
			if err != nil {
				t.Fatal(err)
			}
			wire, err := json.Marshal(test.from)
			if err != nil {
				t.Fatal(err)
			}
			if err := json.Unmarshal(wire, test.to); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.to, got); diff != "" {
				t.Errorf("objects differ (-JSON +got):\n%s", diff)
			}
			back, err := json.Marshal(got)
			if err != nil || string(back) != string(wire) {
				t.Errorf("JSON is\n%s\nwant\n%s\n(%v)", back, wire, err)
			}
		})
	}
	for _, object := range []runtime.Object{&v1.ValidatingAdmissionPolicy{}, &kubernetesv1.MutatingWebhookConfiguration{}} {
		if got, err := policyspec.FromKubernetes(object); got != object || err != nil {
			t.Errorf("%T becomes %T, %v", object, got, err)
		}
	}
}

func TestSort(t *testing.T) {
	policy, binding := &v1.MutatingAdmissionPolicy{}, &v1.MutatingAdmissionPolicyBinding{}
	policy.Name, binding.Name = "p", "b"
	stock, stockBinding := &kubernetesv1.MutatingAdmissionPolicy{}, &kubernetesv1.MutatingAdmissionPolicyBinding{}
	stock.Name, stockBinding.Name = "q", "c"
	const want = ": want *v1.MutatingAdmissionPolicy or *v1.MutatingAdmissionPolicyBinding"
	for name, test := range map[string]struct {
		objects            []runtime.Object
		policies, bindings []string
		err                string
	}{
		"nothing":      {},
		"both":         {[]runtime.Object{binding, policy}, []string{"p"}, []string{"b"}, ""},
		"k8s.io/api":   {[]runtime.Object{stock, stockBinding, policy, binding}, []string{"q", "p"}, []string{"c", "b"}, ""},
		"another kind": {[]runtime.Object{policy, &v1.ValidatingAdmissionPolicy{}}, nil, nil, "unexpected object of type *v1.ValidatingAdmissionPolicy" + want},
		"nil":          {[]runtime.Object{nil}, nil, nil, "unexpected object of type <nil>" + want},
	} {
		t.Run(name, func(t *testing.T) {
			policies, bindings, err := policyspec.Sort[*v1.MutatingAdmissionPolicy, *v1.MutatingAdmissionPolicyBinding](test.objects)
			text := ""
			if err != nil {
				text = err.Error()
			}
			if text != test.err {
				t.Errorf("error is %q, want %q", text, test.err)
			}
			var gotPolicies, gotBindings []string
			for _, p := range policies {
				gotPolicies = append(gotPolicies, p.Name)
			}
			for _, b := range bindings {
				gotBindings = append(gotBindings, b.Name)
			}
			if diff := cmp.Diff([][]string{test.policies, test.bindings}, [][]string{gotPolicies, gotBindings}); diff != "" {
				t.Errorf("objects differ (-want +got):\n%s", diff)
			}
		})
	}
}
