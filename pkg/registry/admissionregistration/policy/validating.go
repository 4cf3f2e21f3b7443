// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilfeature "k8s.io/apiserver/pkg/util/feature"

	v1 "celador.io/api/admissionregistration/v1"
	"celador.io/celador/pkg/apis/admissionregistration"
	"celador.io/celador/pkg/apis/admissionregistration/validation"
	"celador.io/celador/pkg/features"
)

type (
	validatingPolicy     = admissionregistration.ValidatingAdmissionPolicy
	validatingPolicyList = admissionregistration.ValidatingAdmissionPolicyList
	validatingSpec       = v1.ValidatingAdmissionPolicySpec
)

// Validating is the kind ValidatingAdmissionPolicy.
var Validating = Kind[*validatingPolicy, validatingSpec, v1.ValidatingAdmissionPolicy]{
	kind: kind[*validatingPolicy, validatingSpec]{
		plural:         "validatingadmissionpolicies",
		singular:       "validatingadmissionpolicy",
		newObject:      func() *validatingPolicy { return &validatingPolicy{} },
		newList:        func() runtime.Object { return &validatingPolicyList{} },
		spec:           func(policy *validatingPolicy) *validatingSpec { return &policy.Spec },
		dropDisabled:   dropDisabledValidating,
		validate:       validation.ValidateValidatingAdmissionPolicy,
		validateUpdate: validation.ValidateValidatingAdmissionPolicyUpdate,
		keepStatus:     func(policy, stored *validatingPolicy) { policy.Status = stored.Status },
		table: newTable(func(list *validatingPolicyList) []validatingPolicy { return list.Items },
			column[*validatingPolicy]{
				metav1.TableColumnDefinition{Name: "Validations", Type: "integer", Description: "Validations indicates the number of validation rules defined in this configuration"},
				func(policy *validatingPolicy) any { return int64(len(policy.Spec.Validations)) },
			},
			paramKindColumn(validatingParamKind),
			availableColumn(func(policy *validatingPolicy) []metav1.Condition { return policy.Status.Conditions }),
		),
	},
	paramKind:      validatingParamKind,
	external:       externalValidating,
	typed:          typedValidating,
	validateStatus: validation.ValidateValidatingAdmissionPolicyStatusUpdate,
}

func validatingParamKind(policy *validatingPolicy) *v1.ParamKind { return policy.Spec.ParamKind }

func externalValidating(policy *validatingPolicy) *v1.ValidatingAdmissionPolicy {
	return &v1.ValidatingAdmissionPolicy{ObjectMeta: policy.ObjectMeta, Spec: policy.Spec, Status: policy.Status}
}

func dropDisabledValidating(spec, stored *validatingSpec) {
	enabled := utilfeature.DefaultFeatureGate.Enabled
	if !enabled(features.ValidatingAdmissionPolicySingleton) && stored.PolicyType == nil {
		spec.PolicyType = nil
	}
	if !enabled(features.AdmissionPolicyTypeEnforcement) && stored.TypeChecking == nil {
		spec.TypeChecking = nil
	}
	hasFailurePolicy := func(validation v1.Validation) bool { return validation.FailurePolicy != nil }
	if !enabled(features.ValidatingAdmissionPolicyValidationFailurePolicy) && !slices.ContainsFunc(stored.Validations, hasFailurePolicy) {
		for i := range spec.Validations {
			spec.Validations[i].FailurePolicy = nil
		}
	}
}

func typedValidating(spec *validatingSpec) validatingSpec {
	part := validatingSpec{
		ParamKind:        spec.ParamKind,
		MatchConstraints: spec.MatchConstraints,
		Variables:        spec.Variables,
		TypeChecking:     spec.TypeChecking,
	}
	for _, v := range spec.Validations {
		part.Validations = append(part.Validations, v1.Validation{Expression: v.Expression, MessageExpression: v.MessageExpression})
	}
	for _, a := range spec.AuditAnnotations {
		part.AuditAnnotations = append(part.AuditAnnotations, v1.AuditAnnotation{ValueExpression: a.ValueExpression})
	}
	for _, c := range spec.MatchConditions {
		part.MatchConditions = append(part.MatchConditions, v1.MatchCondition{Expression: c.Expression})
	}
	return part
}
