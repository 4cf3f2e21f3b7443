// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	utilfeature "k8s.io/apiserver/pkg/util/feature"

	v1 "celador.io/api/admissionregistration/v1"
	"celador.io/celador/pkg/apis/admissionregistration"
	"celador.io/celador/pkg/apis/admissionregistration/validation"
	"celador.io/celador/pkg/features"
)

type (
	mutatingPolicy     = admissionregistration.MutatingAdmissionPolicy
	mutatingPolicyList = admissionregistration.MutatingAdmissionPolicyList
	mutatingSpec       = v1.MutatingAdmissionPolicySpec
)

// Mutating is the kind MutatingAdmissionPolicy.
var Mutating = Kind[*mutatingPolicy, mutatingSpec, v1.MutatingAdmissionPolicy]{
	kind: kind[*mutatingPolicy, mutatingSpec]{
		plural:       "mutatingadmissionpolicies",
		singular:     "mutatingadmissionpolicy",
		newObject:    func() *mutatingPolicy { return &mutatingPolicy{} },
		newList:      func() runtime.Object { return &mutatingPolicyList{} },
		spec:         func(policy *mutatingPolicy) *mutatingSpec { return &policy.Spec },
		dropDisabled: dropDisabledMutating,
		validate: func(policy *mutatingPolicy) field.ErrorList {
			return validation.ValidateMutatingAdmissionPolicy(policy, patchTypes(&mutatingSpec{}))
		},
		validateUpdate: func(policy, stored *mutatingPolicy) field.ErrorList {
			return validation.ValidateMutatingAdmissionPolicyUpdate(policy, stored, patchTypes(&stored.Spec))
		},
		keepStatus: func(policy, stored *mutatingPolicy) { policy.Status = stored.Status },
		table: newTable(func(list *mutatingPolicyList) []mutatingPolicy { return list.Items },
			column[*mutatingPolicy]{
				metav1.TableColumnDefinition{Name: "Mutations", Type: "integer", Description: "Mutation indicates the number of mutations rules defined in this configuration"},
				func(policy *mutatingPolicy) any { return int64(len(policy.Spec.Mutations)) },
			},
			paramKindColumn(mutatingParamKind),
			availableColumn(func(policy *mutatingPolicy) []metav1.Condition { return policy.Status.Conditions }),
		),
	},
	paramKind:      mutatingParamKind,
	external:       externalMutating,
	typed:          typedMutating,
	validateStatus: validation.ValidateMutatingAdmissionPolicyStatusUpdate,
}

func mutatingParamKind(policy *mutatingPolicy) *v1.ParamKind { return policy.Spec.ParamKind }

func externalMutating(policy *mutatingPolicy) *v1.MutatingAdmissionPolicy {
	return &v1.MutatingAdmissionPolicy{ObjectMeta: policy.ObjectMeta, Spec: policy.Spec, Status: policy.Status}
}

// dropDisabledMutating keeps patch types whose feature gate is off, so that validation rejects
// them.
func dropDisabledMutating(spec, stored *mutatingSpec) {
	if !utilfeature.DefaultFeatureGate.Enabled(features.AdmissionPolicyTypeEnforcement) && stored.TypeChecking == nil {
		spec.TypeChecking = nil
	}
	if inlineExpressionsAllowed(stored) {
		return
	}
	for i, m := range spec.Mutations {
		spec.Mutations[i] = v1.Mutation{PatchType: m.PatchType, ApplyConfiguration: m.ApplyConfiguration, JSONPatch: m.JSONPatch}
	}
}

// patchTypes returns the patch types that an update of the stored spec may use.
func patchTypes(stored *mutatingSpec) []v1.PatchType {
	if inlineExpressionsAllowed(stored) {
		return validation.AllPatchTypes()
	}
	return validation.StockPatchTypes()
}

// inlineExpressionsAllowed reports whether an update of the stored spec may use the fields of
// feature gate MutatingAdmissionPolicyInlineExpressions: the gate is on, or the stored spec uses
// one of them.
func inlineExpressionsAllowed(stored *mutatingSpec) bool {
	return utilfeature.DefaultFeatureGate.Enabled(features.MutatingAdmissionPolicyInlineExpressions) ||
		slices.ContainsFunc(stored.Mutations, func(m v1.Mutation) bool {
			return m.Expression != nil || m.Condition != nil || m.Message != nil || m.Reason != nil || m.ReinvocationPolicy != nil ||
				m.JSONMergePatch != nil || m.StrategicMergePatch != nil
		})
}

func typedMutating(spec *mutatingSpec) mutatingSpec {
	part := mutatingSpec{
		ParamKind:        spec.ParamKind,
		MatchConstraints: spec.MatchConstraints,
		Variables:        spec.Variables,
		TypeChecking:     spec.TypeChecking,
	}
	for _, c := range spec.MatchConditions {
		part.MatchConditions = append(part.MatchConditions, v1.MatchCondition{Expression: c.Expression})
	}
	for _, m := range spec.Mutations {
		m.Message, m.Reason, m.ReinvocationPolicy = nil, nil, nil
		part.Mutations = append(part.Mutations, m)
	}
	return part
}
