// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"celador.io/admission/policyspec"
	"celador.io/admission/validation"
	v1 "celador.io/api/admissionregistration/v1"
	"celador.io/celador/pkg/apis/admissionregistration"
)

type (
	validatingBinding     = admissionregistration.ValidatingAdmissionPolicyBinding
	validatingBindingList = admissionregistration.ValidatingAdmissionPolicyBindingList
	validatingBindingSpec = v1.ValidatingAdmissionPolicyBindingSpec
)

// ValidatingBinding describes the kind ValidatingAdmissionPolicyBinding.
var ValidatingBinding = BindingDescriptor[*validatingBinding, *validatingPolicy, validatingBindingSpec]{
	descriptor: descriptor[*validatingBinding, validatingBindingSpec]{
		plural:    "validatingadmissionpolicybindings",
		singular:  "validatingadmissionpolicybinding",
		newObject: func() *validatingBinding { return &validatingBinding{} },
		newList:   func() runtime.Object { return &validatingBindingList{} },
		spec:      func(binding *validatingBinding) *validatingBindingSpec { return &binding.Spec },
		validate: func(binding *validatingBinding) field.ErrorList {
			return validation.ValidateValidatingAdmissionPolicyBinding(externalValidatingBinding(binding))
		},
		validateUpdate: func(binding, stored *validatingBinding) field.ErrorList {
			return validation.ValidateValidatingAdmissionPolicyBindingUpdate(externalValidatingBinding(binding), externalValidatingBinding(stored))
		},
		table: newTable(func(list *validatingBindingList) []validatingBinding { return list.Items },
			policyNameColumn(validatingPolicyName), paramRefColumn(validatingParamRef)),
	},
	policyKind:  "ValidatingAdmissionPolicy",
	policyName:  validatingPolicyName,
	paramRef:    validatingParamRef,
	paramKind:   validatingParamKind,
	isSingleton: func(policy *validatingPolicy) bool { return policyspec.IsSingleton(&policy.Spec) },
}

func validatingPolicyName(binding *validatingBinding) string { return binding.Spec.PolicyName }

func validatingParamRef(binding *validatingBinding) *v1.ParamRef { return binding.Spec.ParamRef }

func externalValidatingBinding(binding *validatingBinding) *v1.ValidatingAdmissionPolicyBinding {
	return &v1.ValidatingAdmissionPolicyBinding{ObjectMeta: binding.ObjectMeta, Spec: binding.Spec}
}
