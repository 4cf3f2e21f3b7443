// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"

	v1 "celador.io/api/admissionregistration/v1"
)

// ValidateMutatingAdmissionPolicyBinding returns the errors in metadata and spec of a binding that
// is to be created or updated. The policy that it names need not exist. No field is immutable.
func ValidateMutatingAdmissionPolicyBinding(binding *v1.MutatingAdmissionPolicyBinding) field.ErrorList {
	spec, path := &binding.Spec, field.NewPath("spec")
	policyName, match := path.Child("policyName"), path.Child("matchResources")
	return distinct(slices.Concat(
		checkMetadata(&binding.ObjectMeta),
		notEmpty(policyName, &spec.PolicyName),
		checkPolicyName(policyName, spec.PolicyName),
		optional(path.Child("paramRef"), spec.ParamRef, checkParamRef),
		optional(match, spec.MatchResources, checkMatchResources),
		optional(match, spec.MatchResources, checkMutableOperations),
	))
}
