// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package input

import (
	v1 "celador.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// limit is the kind of all params. It is a custom resource.
var limit = schema.GroupVersionKind{Group: "rules.example.com", Version: "v1", Kind: "ReplicaLimit"}

var limitLabels = map[string]string{"rules.example.com/set": "production"}

// Limit returns the i-th param. All params have the same label, by which one paramRef selects them,
// but different limits.
func Limit(i int) *unstructured.Unstructured {
	object := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": limit.GroupVersion().String(),
		"kind":       limit.Kind,
		"spec":       map[string]any{"maxReplicas": int64(50 + i)},
	}}
	metadata := stored(number("limit", i))
	object.SetName(metadata.Name)
	object.SetNamespace(NamespaceName)
	object.SetUID(metadata.UID)
	object.SetResourceVersion(metadata.ResourceVersion)
	object.SetLabels(limitLabels)
	return object
}

// Parameterize makes the first validation of a policy read params, and the binding select all
// params.
func Parameterize(policy *v1.ValidatingAdmissionPolicy, binding *v1.ValidatingAdmissionPolicyBinding) {
	policy.Spec.ParamKind = &v1.ParamKind{APIVersion: limit.GroupVersion().String(), Kind: limit.Kind}
	policy.Spec.Validations[0].Expression = "object.spec.replicas <= params.spec.maxReplicas"
	binding.Spec.ParamRef = &v1.ParamRef{
		Selector:                &metav1.LabelSelector{MatchLabels: limitLabels},
		ParameterNotFoundAction: new(v1.DenyAction),
	}
}
