// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"celador.io/admission/validation"
	v1 "celador.io/api/admissionregistration/v1"
	"celador.io/apiserver/pkg/admission/policyvalidation"

	"celador.io/celador/pkg/apis/admissionregistration"
)

type (
	validatingPolicy     = admissionregistration.ValidatingAdmissionPolicy
	validatingPolicyList = admissionregistration.ValidatingAdmissionPolicyList
	validatingSpec       = v1.ValidatingAdmissionPolicySpec
)

// Validating describes the kind ValidatingAdmissionPolicy.
var Validating = Descriptor[*validatingPolicy, validatingSpec, *v1.ValidatingAdmissionPolicy]{
	descriptor: descriptor[*validatingPolicy, validatingSpec, *v1.ValidatingAdmissionPolicy]{
		plural:     "validatingadmissionpolicies",
		singular:   "validatingadmissionpolicy",
		newObject:  func() *validatingPolicy { return &validatingPolicy{} },
		newList:    func() runtime.Object { return &validatingPolicyList{} },
		spec:       func(policy *validatingPolicy) *validatingSpec { return &policy.Spec },
		external:   externalValidating,
		keepStatus: func(policy, stored *validatingPolicy) { policy.Status = stored.Status },
		table: newTable(func(list *validatingPolicyList) []validatingPolicy { return list.Items },
			column[*validatingPolicy]{
				metav1.TableColumnDefinition{Name: "Validations", Type: "integer", Description: "Validations indicates the number of validation rules defined in this configuration"},
				func(policy *validatingPolicy) any { return int64(len(policy.Spec.Validations)) },
			},
			paramKindColumn(validatingParamKind),
			availableColumn(validatingConditions), typeCheckedColumn(validatingConditions),
		),
	},
	policies: policyvalidation.ValidatingPolicies,
	validateStatus: func(policy *validatingPolicy) field.ErrorList {
		return validation.ValidateValidatingAdmissionPolicyStatus(&policy.Status)
	},
}

func validatingParamKind(policy *validatingPolicy) *v1.ParamKind { return policy.Spec.ParamKind }

func validatingConditions(policy *validatingPolicy) []metav1.Condition {
	return policy.Status.Conditions
}

func externalValidating(policy *validatingPolicy) *v1.ValidatingAdmissionPolicy {
	return (*v1.ValidatingAdmissionPolicy)(policy)
}
