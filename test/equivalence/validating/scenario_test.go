// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package validating

import (
	"celador.io/admission/policytest"
	v1 "celador.io/api/admissionregistration/v1"
	"celador.io/celador/test/equivalence/harness"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// scenario holds the policies, bindings and parameters of a cluster.
type scenario struct {
	Policies []*v1.ValidatingAdmissionPolicy        `json:"policies"`
	Bindings []*v1.ValidatingAdmissionPolicyBinding `json:"bindings"`
	Params   []*unstructured.Unstructured           `json:"params,omitempty"`
}

// ordered reports whether there is only one order in which a plugin can evaluate the scenario.
func (s scenario) ordered() bool {
	return len(s.Policies) <= 1 && len(s.Bindings) <= 1 && len(s.Params) <= 1
}

// policyOf returns a policy with the defaults of the API. By default it matches everything.
func policyOf(name string, spec v1.ValidatingAdmissionPolicySpec) *v1.ValidatingAdmissionPolicy {
	if spec.FailurePolicy == nil {
		spec.FailurePolicy = new(v1.Fail)
	}
	if spec.MatchConstraints == nil {
		spec.MatchConstraints = policytest.Everything()
	}
	if spec.MatchConstraints.NamespaceSelector == nil {
		spec.MatchConstraints.NamespaceSelector = &metav1.LabelSelector{}
	}
	if spec.MatchConstraints.ObjectSelector == nil {
		spec.MatchConstraints.ObjectSelector = &metav1.LabelSelector{}
	}
	return &v1.ValidatingAdmissionPolicy{ObjectMeta: harness.Stored(name), Spec: spec}
}

func bindingOf(name, policy string, actions ...v1.ValidationAction) *v1.ValidatingAdmissionPolicyBinding {
	return &v1.ValidatingAdmissionPolicyBinding{
		ObjectMeta: harness.Stored(name),
		Spec:       v1.ValidatingAdmissionPolicyBindingSpec{PolicyName: policy, ValidationActions: actions},
	}
}
