// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package mutatingadmissionpolicy

import (
	"slices"

	utilfeature "k8s.io/apiserver/pkg/util/feature"

	v1 "celador.io/api/admissionregistration/v1"
	"celador.io/celador/pkg/apis/admissionregistration/validation"
	"celador.io/celador/pkg/features"
)

// dropDisabled clears the fields whose feature gate is off, unless the stored spec
// uses one of that gate: an update must not lose what was written while the gate was on.
// On create the stored spec is empty. A patch type stays, for validation to refuse it.
func dropDisabled(spec, stored *v1.MutatingAdmissionPolicySpec) {
	if !utilfeature.DefaultFeatureGate.Enabled(features.AdmissionPolicyTypeEnforcement) && stored.TypeChecking == nil {
		spec.TypeChecking = nil
	}
	if inlineExpressions(stored) {
		return
	}
	for i, m := range spec.Mutations {
		spec.Mutations[i] = v1.Mutation{PatchType: m.PatchType, ApplyConfiguration: m.ApplyConfiguration, JSONPatch: m.JSONPatch}
	}
}

// patchTypes returns those that a policy may have in place of the stored spec.
func patchTypes(stored *v1.MutatingAdmissionPolicySpec) []v1.PatchType {
	if inlineExpressions(stored) {
		return validation.AllPatchTypes()
	}
	return validation.StockPatchTypes()
}

// inlineExpressions says whether a policy may have the fields of that gate.
func inlineExpressions(stored *v1.MutatingAdmissionPolicySpec) bool {
	return utilfeature.DefaultFeatureGate.Enabled(features.MutatingAdmissionPolicyInlineExpressions) ||
		slices.ContainsFunc(stored.Mutations, usesInlineExpressions)
}

func usesInlineExpressions(m v1.Mutation) bool {
	return m.Expression != nil || m.Condition != nil || m.Message != nil || m.Reason != nil || m.ReinvocationPolicy != nil ||
		m.JSONMergePatch != nil || m.StrategicMergePatch != nil
}
