// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"k8s.io/apimachinery/pkg/runtime"

	v1 "celador.io/api/admissionregistration/v1"
	"celador.io/apiserver/pkg/admission/policyvalidation"

	"celador.io/celador/pkg/apis/admissionregistration"
)

type (
	validatingBinding     = admissionregistration.ValidatingAdmissionPolicyBinding
	validatingBindingList = admissionregistration.ValidatingAdmissionPolicyBindingList
	validatingBindingSpec = v1.ValidatingAdmissionPolicyBindingSpec
)

// ValidatingBinding describes the kind ValidatingAdmissionPolicyBinding.
var ValidatingBinding = BindingDescriptor[*validatingBinding, *validatingPolicy, validatingBindingSpec, validatingSpec, *v1.ValidatingAdmissionPolicyBinding, *v1.ValidatingAdmissionPolicy]{
	descriptor: descriptor[*validatingBinding, validatingBindingSpec, *v1.ValidatingAdmissionPolicyBinding]{
		plural:    "validatingadmissionpolicybindings",
		singular:  "validatingadmissionpolicybinding",
		newObject: func() *validatingBinding { return &validatingBinding{} },
		newList:   func() runtime.Object { return &validatingBindingList{} },
		spec:      func(binding *validatingBinding) *validatingBindingSpec { return &binding.Spec },
		external: func(binding *validatingBinding) *v1.ValidatingAdmissionPolicyBinding {
			return (*v1.ValidatingAdmissionPolicyBinding)(binding)
		},
		table: newTable(func(list *validatingBindingList) []validatingBinding { return list.Items },
			policyNameColumn(validatingPolicyName), paramRefColumn(validatingParamRef)),
	},
	bindings:   policyvalidation.ValidatingBindings,
	policies:   policyvalidation.ValidatingPolicies,
	policy:     externalValidating,
	policyName: validatingPolicyName,
}

func validatingPolicyName(binding *validatingBinding) string { return binding.Spec.PolicyName }

func validatingParamRef(binding *validatingBinding) *v1.ParamRef { return binding.Spec.ParamRef }
