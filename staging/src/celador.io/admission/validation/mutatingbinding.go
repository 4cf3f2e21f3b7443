// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"

	v1 "celador.io/api/admissionregistration/v1"
)

// ValidateMutatingAdmissionPolicyBinding returns what is wrong with a binding that is to
// be created or to replace another: metadata and spec. The policy that it names need not
// exist, and nothing is immutable.
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
