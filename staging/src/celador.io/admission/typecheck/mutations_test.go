// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package typecheck_test

import (
	v1 "celador.io/api/admissionregistration/v1"
)

// mutatingPolicy returns a policy for Deployments with the given mutations. The changes set fields
// that both kinds of policies have.
func mutatingPolicy(mutations []v1.Mutation, change ...func(*v1.ValidatingAdmissionPolicySpec)) *v1.MutatingAdmissionPolicy {
	common := policy("true", change...).Spec
	return &v1.MutatingAdmissionPolicy{Spec: v1.MutatingAdmissionPolicySpec{
		ParamKind:        common.ParamKind,
		MatchConstraints: common.MatchConstraints,
		MatchConditions:  common.MatchConditions,
		Variables:        common.Variables,
		Mutations:        mutations,
	}}
}

func inline(expression string) v1.Mutation { return v1.Mutation{Expression: &expression} }

// onlyIf returns a mutation with a condition.
func onlyIf(condition string, m v1.Mutation) v1.Mutation {
	m.Condition = &condition
	return m
}

func applyConfiguration(expression string) v1.Mutation {
	return v1.Mutation{PatchType: v1.PatchTypeApplyConfiguration, ApplyConfiguration: &v1.ApplyConfiguration{Expression: expression}}
}

func jsonPatch(expression string) v1.Mutation {
	return v1.Mutation{PatchType: v1.PatchTypeJSONPatch, JSONPatch: &v1.JSONPatch{Expression: expression}}
}

func jsonMergePatch(expression string) v1.Mutation {
	return v1.Mutation{PatchType: v1.PatchTypeJSONMergePatch, JSONMergePatch: &v1.JSONMergePatch{Expression: expression}}
}

func strategicMergePatch(expression string) v1.Mutation {
	return v1.Mutation{PatchType: v1.PatchTypeStrategicMergePatch, StrategicMergePatch: &v1.StrategicMergePatch{Expression: expression}}
}
