// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package policyspec

import (
	"fmt"

	v1 "celador.io/api/admissionregistration/v1"
	kubernetesv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// FromKubernetes converts a policy or binding of k8s.io/api, version v1, to the type of
// celador.io/api. It returns other objects as they are. An error means that the object cannot be
// encoded.
func FromKubernetes(object runtime.Object) (runtime.Object, error) {
	switch object := object.(type) {
	case *kubernetesv1.ValidatingAdmissionPolicy:
		return transcode(object, &v1.ValidatingAdmissionPolicy{})
	case *kubernetesv1.ValidatingAdmissionPolicyBinding:
		return transcode(object, &v1.ValidatingAdmissionPolicyBinding{})
	case *kubernetesv1.MutatingAdmissionPolicy:
		return transcode(object, &v1.MutatingAdmissionPolicy{})
	case *kubernetesv1.MutatingAdmissionPolicyBinding:
		return transcode(object, &v1.MutatingAdmissionPolicyBinding{})
	default:
		return object, nil
	}
}

// transcode copies a policy or binding through protobuf, in which the fields have the same numbers
// in both APIs. transcode copies TypeMeta separately, because protobuf does not encode it.
func transcode[T interface {
	runtime.Object
	Unmarshal([]byte) error
}](from interface {
	runtime.Object
	Marshal() ([]byte, error)
}, to T) (runtime.Object, error) {
	wire, err := from.Marshal()
	if err != nil {
		return nil, fmt.Errorf("encoding %T: %w", from, err)
	}
	to.GetObjectKind().SetGroupVersionKind(from.GetObjectKind().GroupVersionKind())
	return to, to.Unmarshal(wire)
}

// Sort converts the objects with FromKubernetes and sorts them by their Go type into policies and
// bindings. It returns an error for an object of another type.
func Sort[P, B runtime.Object](objects []runtime.Object) (policies []P, bindings []B, err error) {
	for _, object := range objects {
		converted, err := FromKubernetes(object)
		if err != nil {
			return nil, nil, err
		}
		switch o := converted.(type) {
		case P:
			policies = append(policies, o)
		case B:
			bindings = append(bindings, o)
		default:
			return nil, nil, fmt.Errorf("unexpected object of type %T: want %T or %T", object, *new(P), *new(B))
		}
	}
	return policies, bindings, nil
}
