// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package validatingadmissionpolicy_test

import (
	"celador.io/admission/policytest"
	v1 "celador.io/api/admissionregistration/v1"
)

const (
	few     = "object.spec.replicas <= 5"
	failing = "object.spec.missing.field == 1"
)

// atMost returns a policy that denies deployments with more than the given number of replicas.
func atMost(name, replicas string) *v1.ValidatingAdmissionPolicy {
	return policytest.Validating(name, v1.ValidatingAdmissionPolicySpec{
		Validations: []v1.Validation{{Expression: "object.spec.replicas <= " + replicas}},
	})
}
