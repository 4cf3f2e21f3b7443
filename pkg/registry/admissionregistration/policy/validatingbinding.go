// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"k8s.io/apimachinery/pkg/runtime"
	utilfeature "k8s.io/apiserver/pkg/util/feature"

	v1 "celador.io/api/admissionregistration/v1"
	"celador.io/celador/pkg/apis/admissionregistration"
	"celador.io/celador/pkg/apis/admissionregistration/validation"
	"celador.io/celador/pkg/features"
)

type (
	validatingBinding     = admissionregistration.ValidatingAdmissionPolicyBinding
	validatingBindingList = admissionregistration.ValidatingAdmissionPolicyBindingList
	validatingBindingSpec = v1.ValidatingAdmissionPolicyBindingSpec
)

// ValidatingBinding is the kind ValidatingAdmissionPolicyBinding.
var ValidatingBinding = BindingKind[*validatingBinding, *validatingPolicy, validatingBindingSpec]{
	kind: kind[*validatingBinding, validatingBindingSpec]{
		plural:         "validatingadmissionpolicybindings",
		singular:       "validatingadmissionpolicybinding",
		newObject:      func() *validatingBinding { return &validatingBinding{} },
		newList:        func() runtime.Object { return &validatingBindingList{} },
		spec:           func(binding *validatingBinding) *validatingBindingSpec { return &binding.Spec },
		dropDisabled:   dropDisabledValidatingBinding,
		validate:       validation.ValidateValidatingAdmissionPolicyBinding,
		validateUpdate: validation.ValidateValidatingAdmissionPolicyBindingUpdate,
		table: newTable(func(list *validatingBindingList) []validatingBinding { return list.Items },
			policyNameColumn(validatingPolicyName), paramRefColumn(validatingParamRef)),
	},
	policyName:  validatingPolicyName,
	paramRef:    validatingParamRef,
	paramKind:   validatingParamKind,
	isSingleton: func(policy *validatingPolicy) bool { return validation.IsSingleton(&policy.Spec) },
}

func validatingPolicyName(binding *validatingBinding) string { return binding.Spec.PolicyName }

func validatingParamRef(binding *validatingBinding) *v1.ParamRef { return binding.Spec.ParamRef }

func dropDisabledValidatingBinding(spec, stored *validatingBindingSpec) {
	if !utilfeature.DefaultFeatureGate.Enabled(features.ValidatingAdmissionPolicyFallbackBinding) && stored.BindingType == nil {
		spec.BindingType = nil
	}
}
