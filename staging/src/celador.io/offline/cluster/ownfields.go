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

// OwnFields returns an error for each field of a policy or binding that Kubernetes does not have,
// and for each expression that Kubernetes does not compile. The object may be of the API group of
// Kubernetes or of the polyfill. The detail names the feature gate. OwnFields fails if the object
// cannot be decoded.
func OwnFields(object *unstructured.Unstructured) (field.ErrorList, error) {
	own, err := gatedFields(object, nil)
	return append(own.fields, own.expressions...), err
}

// DisabledFields returns an error for each field of a policy or binding that the server drops
// because its feature gate is not enabled. The object may be of the API group of Kubernetes or of
// the polyfill. DisabledFields fails if the object cannot be decoded.
func (b *Base) DisabledFields(object *unstructured.Unstructured) (field.ErrorList, error) {
	disabled, err := gatedFields(object, b.backend.Features())
	return disabled.fields, err
}

// FeatureGates returns the feature gates that the policies and bindings among the objects need, as
// EnableFeatures takes them. Objects that cannot be decoded need none.
func FeatureGates(objects ...*unstructured.Unstructured) map[string]bool {
	gates := map[string]bool{}
	for _, object := range objects {
		own, _ := gatedFields(object, nil)
		for feature := range maps.Keys(own.inUse) {
			gates[string(feature)] = true
		}
	}
	return gates
}

// RequestTimeReads returns the paths of the expressions of a policy that read request.time. The
// policy may be of the API group of Kubernetes or of the polyfill. RequestTimeReads returns none
// for other objects, and for policies that cannot be decoded.
func RequestTimeReads(object *unstructured.Unstructured) []string {
	var paths []string
	own, _ := gatedFields(object, nil)
	for _, e := range own.expressions {
		paths = append(paths, e.Field)
	}
	return paths
}

// gated holds errors for the fields and the expressions of an object whose features are not
// enabled, and in inUse all features that the object uses.
type gated struct {
	fields, expressions field.ErrorList
	inUse               policyspec.Features
}

// gatedFields returns what an object has that needs other features than the given ones.
func gatedFields(object *unstructured.Unstructured, features policyspec.Features) (gated, error) {
	if group := object.GroupVersionKind().Group; group != v1.GroupName && group != v1.PolyfillGroupVersion.Group {
		return gated{}, nil
	}
	switch object.GetKind() {
	case ValidatingKind:
		return gatedFieldsOf(object, features, func(o *v1.ValidatingAdmissionPolicy) *v1.ValidatingAdmissionPolicySpec { return &o.Spec })
	case MutatingKind:
		return gatedFieldsOf(object, features, func(o *v1.MutatingAdmissionPolicy) *v1.MutatingAdmissionPolicySpec { return &o.Spec })
	case ValidatingKind + "Binding":
		return gatedFieldsOf(object, features, func(o *v1.ValidatingAdmissionPolicyBinding) *v1.ValidatingAdmissionPolicyBindingSpec { return &o.Spec })
	}
	return gated{}, nil // all fields of the binding of a mutating policy are Kubernetes'
}

func gatedFieldsOf[T any, S policyspec.Spec](object *unstructured.Unstructured, features policyspec.Features, spec func(*T) *S) (gated, error) {
	typed := new(T)
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, typed); err != nil {
		return gated{}, err
	}
	s := spec(typed)
	return gated{policyspec.DisabledFields(s, features), policyspec.DisabledExpressions(s, features), policyspec.InUse(s, nil)}, nil
}
