// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package validation says what is wrong with policies and bindings. Error types,
// field paths and messages are those of the same kinds in Kubernetes, and so is
// their order, as clients show all of this to people and programs read it.
//
// All functions return nil for a valid object, read nothing but their arguments,
// and are safe for concurrent use. They bear any object that can be decoded, with
// or without defaults.
package validation

import (
	"slices"

	"k8s.io/apimachinery/pkg/api/equality"
	genericvalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	v1 "celador.io/api/admissionregistration/v1"
	"celador.io/celador/pkg/apis/admissionregistration"
)

// ValidateValidatingAdmissionPolicy returns what is wrong with a policy that is
// to be created: metadata and spec; a new object has no status. Expressions must
// compile with the CEL features that the previous minor version knows too, so
// that a rollback is possible.
func ValidateValidatingAdmissionPolicy(policy *admissionregistration.ValidatingAdmissionPolicy) field.ErrorList {
	return distinct(checkPolicy(policy, nil))
}

// ValidateValidatingAdmissionPolicyUpdate returns what is wrong with a policy that
// is to replace old: metadata and spec. What old already contains is judged more
// leniently: its expressions may use every CEL feature, and its match conditions
// are not looked at again while they and paramKind stay the same. The fields of
// this project's own may keep their values.
func ValidateValidatingAdmissionPolicyUpdate(policy, old *admissionregistration.ValidatingAdmissionPolicy) field.ErrorList {
	return distinct(checkPolicy(policy, old))
}

func checkPolicy(policy, old *admissionregistration.ValidatingAdmissionPolicy) field.ErrorList {
	spec, path := &policy.Spec, field.NewPath("spec")
	stored := &v1.ValidatingAdmissionPolicySpec{} // on create
	if old != nil {
		stored = &old.Spec
	}
	errs := slices.Concat(
		checkMetadata(&policy.ObjectMeta),
		required(path.Child("failurePolicy"), spec.FailurePolicy, oneOf(v1.Fail, v1.Ignore)),
		checkPolicyType(path, spec, stored),
		checkTypeCheckingMode(path.Child("typeChecking"), spec.TypeChecking, stored.TypeChecking),
		optional(path.Child("paramKind"), spec.ParamKind, checkParamKind),
		required(path.Child("matchConstraints"), spec.MatchConstraints, checkMatchConstraints),
	)

	scope := newScope(policy.Name, spec.ParamKind, expressionsOf(old))
	defer scope.release()
	if len(spec.Variables) > 0 {
		scope.compose()
	}
	if old == nil || !sameMatchConditions(spec.ParamKind, stored.ParamKind, spec.MatchConditions, stored.MatchConditions) {
		errs = append(errs, scope.checkMatchConditions(path.Child("matchConditions"), spec.MatchConditions)...)
	}
	// Variables come first: validations and audit annotations read them.
	errs = append(errs, each(path.Child("variables"), spec.Variables, scope.checkVariable)...)

	validations, annotations := path.Child("validations"), path.Child("auditAnnotations")
	if len(spec.Validations)+len(spec.AuditAnnotations) == 0 {
		const empty = "validations or auditAnnotations must contain at least one item"
		return slices.Concat(errs, missing(validations, empty), missing(annotations, empty))
	}
	return slices.Concat(errs,
		each(validations, spec.Validations, scope.checkValidation),
		checkFailurePolicies(validations, spec, stored),
		scope.checkAuditAnnotations(annotations, spec.AuditAnnotations),
	)
}

// sameMatchConditions says whether match conditions that were valid in old must
// still be valid: they and the declaration of 'params' are the same.
func sameMatchConditions(kind, oldKind *v1.ParamKind, conditions, old []v1.MatchCondition) bool {
	return equality.Semantic.DeepEqual(kind, oldKind) && equality.Semantic.DeepEqual(conditions, old)
}

func checkMetadata(meta *metav1.ObjectMeta) field.ErrorList {
	const namespaced = false
	return genericvalidation.ValidateObjectMeta(meta, namespaced, genericvalidation.NameIsDNSSubdomain, field.NewPath("metadata"))
}
