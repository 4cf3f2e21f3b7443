// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package validatingadmissionpolicy

import (
	"slices"

	utilfeature "k8s.io/apiserver/pkg/util/feature"

	v1 "celador.io/api/admissionregistration/v1"
	"celador.io/celador/pkg/features"
)

// dropDisabled clears the fields whose feature gate is off, unless the stored spec
// uses them: an update must not lose what was written while the gate was on. On
// create the stored spec is empty.
func dropDisabled(spec, stored *v1.ValidatingAdmissionPolicySpec) {
	enabled := utilfeature.DefaultFeatureGate.Enabled
	if !enabled(features.ValidatingAdmissionPolicySingleton) && stored.PolicyType == nil {
		spec.PolicyType = nil
	}
	if !enabled(features.AdmissionPolicyTypeEnforcement) && stored.TypeChecking == nil {
		spec.TypeChecking = nil
	}
	if !enabled(features.ValidatingAdmissionPolicyValidationFailurePolicy) && !slices.ContainsFunc(stored.Validations, hasFailurePolicy) {
		for i := range spec.Validations {
			spec.Validations[i].FailurePolicy = nil
		}
	}
}

func hasFailurePolicy(validation v1.Validation) bool { return validation.FailurePolicy != nil }
