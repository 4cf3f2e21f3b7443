// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package validatingadmissionpolicybinding

import (
	utilfeature "k8s.io/apiserver/pkg/util/feature"

	v1 "celador.io/api/admissionregistration/v1"
	"celador.io/celador/pkg/features"
)

// dropDisabled clears the field whose feature gate is off, unless the stored spec
// uses it: an update must not lose what was written while the gate was on. On
// create the stored spec is empty.
func dropDisabled(spec, stored *v1.ValidatingAdmissionPolicyBindingSpec) {
	if !utilfeature.DefaultFeatureGate.Enabled(features.ValidatingAdmissionPolicyFallbackBinding) && stored.BindingType == nil {
		spec.BindingType = nil
	}
}
