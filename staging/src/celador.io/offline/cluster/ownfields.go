// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"maps"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"celador.io/admission/policyspec"
	v1 "celador.io/api/admissionregistration/v1"
)

// OwnFields returns an error for each field of a policy or binding, in either group, that
// Kubernetes does not have. The detail names the feature gate. OwnFields fails if the object cannot
// be decoded.
func OwnFields(object *unstructured.Unstructured) (field.ErrorList, error) {
	fields, _, err := gatedFields(object, nil)
	return fields, err
}

// DisabledFields is OwnFields for those fields whose feature gate is not enabled.
func (b *Base) DisabledFields(object *unstructured.Unstructured) (field.ErrorList, error) {
	fields, _, err := gatedFields(object, b.backend.Features())
	return fields, err
}

// FeatureGates returns the feature gates that fields of the policies and bindings among the objects
// need, as EnableFeatures takes them. Objects that cannot be decoded need none.
func FeatureGates(objects ...*unstructured.Unstructured) map[string]bool {
	gates := map[string]bool{}
	for _, object := range objects {
		_, used, _ := gatedFields(object, nil)
		for feature := range maps.Keys(used) {
			gates[string(feature)] = true
		}
	}
	return gates
}

func gatedFields(object *unstructured.Unstructured, features policyspec.Features) (field.ErrorList, policyspec.Features, error) {
	if group := object.GroupVersionKind().Group; group != v1.GroupName && group != v1.PolyfillGroupVersion.Group {
		return nil, nil, nil
	}
	switch object.GetKind() {
	case ValidatingKind:
		return gatedFieldsOf(object, features, func(o *v1.ValidatingAdmissionPolicy) *v1.ValidatingAdmissionPolicySpec { return &o.Spec })
	case MutatingKind:
		return gatedFieldsOf(object, features, func(o *v1.MutatingAdmissionPolicy) *v1.MutatingAdmissionPolicySpec { return &o.Spec })
	case ValidatingKind + "Binding":
		return gatedFieldsOf(object, features, func(o *v1.ValidatingAdmissionPolicyBinding) *v1.ValidatingAdmissionPolicyBindingSpec { return &o.Spec })
	}
	return nil, nil, nil // all fields of the binding of a mutating policy are Kubernetes'
}

func gatedFieldsOf[T any, S policyspec.Spec](object *unstructured.Unstructured, features policyspec.Features, spec func(*T) *S) (field.ErrorList, policyspec.Features, error) {
	typed := new(T)
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, typed); err != nil {
		return nil, nil, err
	}
	return policyspec.Disabled(spec(typed), features), policyspec.InUse(spec(typed), nil), nil
}
