// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"celador.io/admission/validation"
	v1 "celador.io/api/admissionregistration/v1"
	"celador.io/celador/pkg/apis/admissionregistration"
)

type (
	mutatingBinding     = admissionregistration.MutatingAdmissionPolicyBinding
	mutatingBindingList = admissionregistration.MutatingAdmissionPolicyBindingList
	mutatingBindingSpec = v1.MutatingAdmissionPolicyBindingSpec
)

// MutatingBinding describes the kind MutatingAdmissionPolicyBinding.
var MutatingBinding = BindingDescriptor[*mutatingBinding, *mutatingPolicy, mutatingBindingSpec]{
	descriptor: descriptor[*mutatingBinding, mutatingBindingSpec]{
		plural:    "mutatingadmissionpolicybindings",
		singular:  "mutatingadmissionpolicybinding",
		newObject: func() *mutatingBinding { return &mutatingBinding{} },
		newList:   func() runtime.Object { return &mutatingBindingList{} },
		spec:      func(binding *mutatingBinding) *mutatingBindingSpec { return &binding.Spec },
		validate:  validateMutatingBinding,
		validateUpdate: func(binding, _ *mutatingBinding) field.ErrorList {
			return validateMutatingBinding(binding)
		},
		table: newTable(func(list *mutatingBindingList) []mutatingBinding { return list.Items },
			policyNameColumn(mutatingPolicyName), paramRefColumn(mutatingParamRef)),
	},
	policyKind: "MutatingAdmissionPolicy",
	policyName: mutatingPolicyName,
	paramRef:   mutatingParamRef,
	paramKind:  mutatingParamKind,
}

func mutatingPolicyName(binding *mutatingBinding) string { return binding.Spec.PolicyName }

func mutatingParamRef(binding *mutatingBinding) *v1.ParamRef { return binding.Spec.ParamRef }

func validateMutatingBinding(binding *mutatingBinding) field.ErrorList {
	return validation.ValidateMutatingAdmissionPolicyBinding(&v1.MutatingAdmissionPolicyBinding{ObjectMeta: binding.ObjectMeta, Spec: binding.Spec})
}
