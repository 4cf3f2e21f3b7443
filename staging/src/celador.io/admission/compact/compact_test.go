// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package compact_test

import (
	"reflect"
	"testing"

	v1 "celador.io/api/admissionregistration/v1"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"celador.io/admission/compact"
	"celador.io/admission/policytest"
)

// sample returns an object with metadata that Transform removes.
func sample[O metav1.Object](object O) O {
	object.SetLabels(map[string]string{"team": "blue"})
	object.SetAnnotations(map[string]string{"note": "yes"})
	object.SetManagedFields([]metav1.ManagedFieldsEntry{{Manager: "kubectl"}, {Manager: "checker", Subresource: "status"}})
	object.SetOwnerReferences([]metav1.OwnerReference{{Name: "owner"}})
	return object
}

func matching(app string) *v1.MatchResources {
	match := policytest.Match(v1.Equivalent, policytest.Rule("apps", "v1", "deployments"))
	match.ObjectSelector = &metav1.LabelSelector{MatchLabels: map[string]string{"app": app}}
	return match
}

func validatingBinding(name string) *v1.ValidatingAdmissionPolicyBinding {
	b := sample(policytest.Binding(name, "p", v1.Deny, v1.Audit))
	b.Spec.MatchResources, b.Spec.ParamRef = matching("web"), &v1.ParamRef{Name: "x"}
	return b
}

// cached returns the object as Transform must leave it: without type and most metadata.
func cached(object runtime.Object) runtime.Object {
	result := object.DeepCopyObject()
	meta := result.(metav1.Object)
	meta.SetLabels(nil)
	meta.SetAnnotations(nil)
	meta.SetManagedFields([]metav1.ManagedFieldsEntry{{Manager: "checker", Subresource: "status"}})
	meta.SetOwnerReferences(nil)
	result.GetObjectKind().SetGroupVersionKind(schema.GroupVersionKind{})
	return result
}

// Transform does not change an object that shares the memory of the transformed one, such as that
// of a watch cache.
func TestTransformOfSharedMemory(t *testing.T) {
	compactor := compact.New()
	for range 2 { // the parts of the second binding are replaced by those of the first
		shared := validatingBinding("b")
		before, shallow := shared.DeepCopy(), *shared
		if _, err := compactor.Transform(&shallow); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(before, shared); diff != "" {
			t.Errorf("the other object changed (-before +after):\n%s", diff)
		}
	}
}

// Transform leaves the spec as it is, whatever it has seen before.
func TestTransform(t *testing.T) {
	mutatingBinding := sample(policytest.MutatingBinding("b", "p"))
	mutatingBinding.Spec.MatchResources, mutatingBinding.Spec.ParamRef = matching("db"), &v1.ParamRef{Name: "y"}
	odd := validatingBinding("odd")
	odd.Spec.ValidationActions = []v1.ValidationAction{"Explode"}
	checked := sample(policytest.Validating("p", v1.ValidatingAdmissionPolicySpec{Validations: policytest.Validations("true")}))
	checked.UID, checked.ResourceVersion, checked.Generation = "uid", "7", 3
	checked.Status.ObservedGeneration = 3
	c := compact.New()
	for name, object := range map[string]runtime.Object{
		"validating policy":             sample(policytest.Validating("p", v1.ValidatingAdmissionPolicySpec{MatchConstraints: matching("web"), Validations: policytest.Validations("true")})),
		"mutating policy":               sample(policytest.Mutating("p", policytest.SetData("a", "'1'"))),
		"validating binding":            validatingBinding("b"),
		"equal validating binding":      validatingBinding("c"),
		"mutating binding":              mutatingBinding,
		"binding with unknown action":   odd,
		"binding without optional part": sample(policytest.Binding("d", "p")),
		"policy with a status":          checked,
	} {
		for range 2 {
			want := cached(object)
			got, err := c.Transform(object)
			if err != nil || got != any(object) {
				t.Errorf("%s: got %v, %v", name, got, err)
			}
			if diff := cmp.Diff(want, object); diff != "" {
				t.Errorf("%s: objects differ (-want +got):\n%s", name, diff)
			}
		}
	}
	unchecked := policytest.Mutating("p")
	unchecked.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "kubectl"}}
	if _, err := c.Transform(unchecked); err != nil || unchecked.ManagedFields != nil {
		t.Errorf("Transform leaves %v of a policy without a status (%v)", unchecked.ManagedFields, err)
	}
	other := sample(&corev1.Pod{})
	if got, err := c.Transform(other); got != any(other) || err != nil || other.ManagedFields == nil {
		t.Errorf("Transform changes a pod: %v, %v", got, err)
	}
}

func TestSharing(t *testing.T) {
	c := compact.New()
	transform := func(b *v1.ValidatingAdmissionPolicyBinding) *v1.ValidatingAdmissionPolicyBinding {
		if _, err := c.Transform(b); err != nil {
			t.Fatal(err)
		}
		return b
	}
	changed := func(change func(*v1.ValidatingAdmissionPolicyBinding)) *v1.ValidatingAdmissionPolicyBinding {
		b := validatingBinding("b")
		change(b)
		return b
	}
	type shared struct{ Match, Param, Actions bool }
	for name, test := range map[string]struct {
		binding *v1.ValidatingAdmissionPolicyBinding
		want    shared
	}{
		"equal": {validatingBinding("b"), shared{true, true, true}},
		"match": {changed(func(b *v1.ValidatingAdmissionPolicyBinding) { b.Spec.MatchResources = matching("db") }), shared{false, true, true}},
		"param": {changed(func(b *v1.ValidatingAdmissionPolicyBinding) { b.Spec.ParamRef.Name = "y" }), shared{true, false, true}},
		"actions": {changed(func(b *v1.ValidatingAdmissionPolicyBinding) {
			b.Spec.ValidationActions = []v1.ValidationAction{v1.Audit, v1.Deny}
		}), shared{true, true, false}},
	} {
		t.Run(name, func(t *testing.T) {
			a, b := transform(validatingBinding("a")), transform(test.binding)
			same := func(a, b any) bool { return reflect.ValueOf(a).Pointer() == reflect.ValueOf(b).Pointer() }
			got := shared{
				a.Spec.MatchResources == b.Spec.MatchResources, a.Spec.ParamRef == b.Spec.ParamRef,
				same(a.Spec.ValidationActions, b.Spec.ValidationActions),
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("shared parts differ (-want +got):\n%s", diff)
			}
		})
	}
	policy := policytest.Validating("p", v1.ValidatingAdmissionPolicySpec{MatchConstraints: matching("web")})
	binding := transform(validatingBinding("a"))
	if _, err := c.Transform(policy); err != nil || policy.Spec.MatchConstraints != binding.Spec.MatchResources {
		t.Errorf("a policy and a binding with equal match resources do not share them (%v)", err)
	}
}
