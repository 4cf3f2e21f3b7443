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
	mutatingPolicy     = admissionregistration.MutatingAdmissionPolicy
	mutatingPolicyList = admissionregistration.MutatingAdmissionPolicyList
	mutatingSpec       = v1.MutatingAdmissionPolicySpec
)

// Mutating describes the kind MutatingAdmissionPolicy.
var Mutating = Descriptor[*mutatingPolicy, mutatingSpec, *v1.MutatingAdmissionPolicy]{
	descriptor: descriptor[*mutatingPolicy, mutatingSpec, *v1.MutatingAdmissionPolicy]{
		plural:     "mutatingadmissionpolicies",
		singular:   "mutatingadmissionpolicy",
		newObject:  func() *mutatingPolicy { return &mutatingPolicy{} },
		newList:    func() runtime.Object { return &mutatingPolicyList{} },
		spec:       func(policy *mutatingPolicy) *mutatingSpec { return &policy.Spec },
		external:   externalMutating,
		keepStatus: func(policy, stored *mutatingPolicy) { policy.Status = stored.Status },
		table: newTable(func(list *mutatingPolicyList) []mutatingPolicy { return list.Items },
			column[*mutatingPolicy]{
				metav1.TableColumnDefinition{Name: "Mutations", Type: "integer", Description: "Mutation indicates the number of mutations rules defined in this configuration"},
				func(policy *mutatingPolicy) any { return int64(len(policy.Spec.Mutations)) },
			},
			paramKindColumn(mutatingParamKind),
			availableColumn(mutatingConditions), typeCheckedColumn(mutatingConditions),
		),
	},
	policies: policyvalidation.MutatingPolicies,
	validateStatus: func(policy *mutatingPolicy) field.ErrorList {
		return validation.ValidateMutatingAdmissionPolicyStatus(&policy.Status)
	},
}

func mutatingParamKind(policy *mutatingPolicy) *v1.ParamKind { return policy.Spec.ParamKind }

func mutatingConditions(policy *mutatingPolicy) []metav1.Condition { return policy.Status.Conditions }

func externalMutating(policy *mutatingPolicy) *v1.MutatingAdmissionPolicy {
	return (*v1.MutatingAdmissionPolicy)(policy)
}
