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
	mutatingBinding     = admissionregistration.MutatingAdmissionPolicyBinding
	mutatingBindingList = admissionregistration.MutatingAdmissionPolicyBindingList
	mutatingBindingSpec = v1.MutatingAdmissionPolicyBindingSpec
)

// MutatingBinding describes the kind MutatingAdmissionPolicyBinding.
var MutatingBinding = BindingDescriptor[*mutatingBinding, *mutatingPolicy, mutatingBindingSpec, mutatingSpec, *v1.MutatingAdmissionPolicyBinding, *v1.MutatingAdmissionPolicy]{
	descriptor: descriptor[*mutatingBinding, mutatingBindingSpec, *v1.MutatingAdmissionPolicyBinding]{
		plural:    "mutatingadmissionpolicybindings",
		singular:  "mutatingadmissionpolicybinding",
		newObject: func() *mutatingBinding { return &mutatingBinding{} },
		newList:   func() runtime.Object { return &mutatingBindingList{} },
		spec:      func(binding *mutatingBinding) *mutatingBindingSpec { return &binding.Spec },
		external: func(binding *mutatingBinding) *v1.MutatingAdmissionPolicyBinding {
			return (*v1.MutatingAdmissionPolicyBinding)(binding)
		},
		table: newTable(func(list *mutatingBindingList) []mutatingBinding { return list.Items },
			policyNameColumn(mutatingPolicyName), paramRefColumn(mutatingParamRef)),
	},
	bindings:   policyvalidation.MutatingBindings,
	policies:   policyvalidation.MutatingPolicies,
	policy:     externalMutating,
	policyName: mutatingPolicyName,
}

func mutatingPolicyName(binding *mutatingBinding) string { return binding.Spec.PolicyName }

func mutatingParamRef(binding *mutatingBinding) *v1.ParamRef { return binding.Spec.ParamRef }
