// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"slices"

	genericvalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	v1 "celador.io/api/admissionregistration/v1"
)

// ValidateValidatingAdmissionPolicyBinding returns the errors in metadata and spec of a binding
// that is to be created. The policy that it names need not exist.
func ValidateValidatingAdmissionPolicyBinding(binding *v1.ValidatingAdmissionPolicyBinding) field.ErrorList {
	return distinct(checkBinding(binding, nil))
}

// ValidateValidatingAdmissionPolicyBindingUpdate returns the errors in metadata and spec of a
// binding that is to replace old. No field is immutable. An unknown bindingType is valid if it
// equals the type of old.
func ValidateValidatingAdmissionPolicyBindingUpdate(binding, old *v1.ValidatingAdmissionPolicyBinding) field.ErrorList {
	return distinct(checkBinding(binding, old))
}

func checkBinding(binding, old *v1.ValidatingAdmissionPolicyBinding) field.ErrorList {
	spec, path := &binding.Spec, field.NewPath("spec")
	policyName, actions := path.Child("policyName"), path.Child("validationActions")

	// Kubernetes reports a missing policyName or validationActions in two ways. Its declarative
	// validation reports it after all other errors and without a detail, but not if it was missing
	// in the old binding, too. In that case, the hand-written validation reports it, at its place
	// among the errors.
	noName, noActions := spec.PolicyName == "", len(spec.ValidationActions) == 0
	hadNoName := old != nil && old.Spec.PolicyName == ""
	hadNoActions := old != nil && len(old.Spec.ValidationActions) == 0

	var missingActions field.ErrorList
	if noActions && !hadNoActions {
		missingActions = knownActions.missing(actions)
	}

	var storedType *v1.BindingType
	if old != nil {
		storedType = old.Spec.BindingType
	}

	return slices.Concat(
		checkMetadata(&binding.ObjectMeta),
		when(noName && hadNoName, field.Required(policyName, "")),
		checkPolicyName(policyName, spec.PolicyName),
		optional(path.Child("paramRef"), spec.ParamRef, checkParamRef),
		optional(path.Child("matchResources"), spec.MatchResources, checkMatchResources),
		checkActions(actions, spec.ValidationActions),
		when(noActions && hadNoActions, field.Required(actions, "at least one validation action is required")),
		checkBindingType(path, spec.BindingType, storedType),
		when(noName && !hadNoName, field.Required(policyName, "")),
		missingActions,
	)
}

// ValidateMutatingAdmissionPolicyBinding returns the errors in metadata and spec of a binding that
// is to be created. The policy that it names need not exist.
func ValidateMutatingAdmissionPolicyBinding(binding *v1.MutatingAdmissionPolicyBinding) field.ErrorList {
	return ValidateMutatingAdmissionPolicyBindingUpdate(binding, &v1.MutatingAdmissionPolicyBinding{})
}

// ValidateMutatingAdmissionPolicyBindingUpdate returns the errors in metadata and spec of a binding
// that is to replace old. No field is immutable. An unknown bindingType is valid if it equals the
// type of old.
func ValidateMutatingAdmissionPolicyBindingUpdate(binding, old *v1.MutatingAdmissionPolicyBinding) field.ErrorList {
	spec, path := &binding.Spec, field.NewPath("spec")
	policyName, match := path.Child("policyName"), path.Child("matchResources")
	return distinct(slices.Concat(
		checkMetadata(&binding.ObjectMeta),
		notEmpty(policyName, &spec.PolicyName),
		checkPolicyName(policyName, spec.PolicyName),
		optional(path.Child("paramRef"), spec.ParamRef, checkParamRef),
		optional(match, spec.MatchResources, checkMatchResources),
		optional(match, spec.MatchResources, checkMutableOperations),
		checkBindingType(path, spec.BindingType, old.Spec.BindingType),
	))
}

func checkBindingType(spec *field.Path, bindingType, stored *v1.BindingType) field.ErrorList {
	return optional(spec.Child("bindingType"), bindingType, unlessStored(oneOf(v1.FallbackBinding).check, stored))
}

func checkPolicyName(path *field.Path, name string) field.ErrorList {
	if name == "" {
		return nil
	}
	return invalid(path, name, genericvalidation.NameIsDNSSubdomain(name, false)...)
}

var knownActions = oneOf(v1.Audit, v1.Deny, v1.Warn)

func checkActions(path *field.Path, actions []v1.ValidationAction) field.ErrorList {
	unique := once[v1.ValidationAction]()
	return slices.Concat(
		each(path, actions, func(path *field.Path, action *v1.ValidationAction) field.ErrorList {
			return slices.Concat(knownActions.check(path, action), unique(path, action))
		}),
		when(slices.Contains(actions, v1.Deny) && slices.Contains(actions, v1.Warn), field.Invalid(path, actions,
			"must not contain both Deny and Warn (repeating the same validation failure information in the API response and headers serves no purpose)")),
	)
}
