// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package validation validates policies and bindings. Error types, field paths, messages and the
// order of errors are the same as in Kubernetes, because clients depend on them. The tests under
// test/equivalence/validation list the exceptions.
//
// All functions return nil for a valid object, do not change their arguments, and are safe for
// concurrent use. They accept any object that can be decoded, with or without defaults.
package validation

import (
	"slices"

	"k8s.io/apimachinery/pkg/api/equality"
	genericvalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"celador.io/admission/policyspec"
	v1 "celador.io/api/admissionregistration/v1"
)

// ValidateValidatingAdmissionPolicy returns the errors in metadata and spec of a policy that is to
// be created. Expressions must compile with the CEL features of the previous minor version, so that
// a rollback is possible.
func ValidateValidatingAdmissionPolicy(policy *v1.ValidatingAdmissionPolicy) field.ErrorList {
	return distinct(checkPolicy(policy, nil))
}

// ValidateValidatingAdmissionPolicyUpdate returns the errors in metadata and spec of a policy that
// is to replace old. Expressions that old contains may use every CEL feature. Match conditions are
// checked only if they or paramKind change. Fields that depend on features may keep the values that
// they have in old, even if they are not valid.
func ValidateValidatingAdmissionPolicyUpdate(policy, old *v1.ValidatingAdmissionPolicy) field.ErrorList {
	return distinct(checkPolicy(policy, old))
}

func checkPolicy(policy, old *v1.ValidatingAdmissionPolicy) field.ErrorList {
	spec, path := &policy.Spec, field.NewPath("spec")
	stored := &v1.ValidatingAdmissionPolicySpec{} // on create
	if old != nil {
		stored = &old.Spec
	}
	anatomy := policyspec.Validating(spec)
	expressions := checkExpressions(anatomy, policyspec.Validating(stored))
	errs := slices.Concat(
		checkMetadata(&policy.ObjectMeta),
		knownFailurePolicy.required(path.Child("failurePolicy"), spec.FailurePolicy),
		checkPolicyType(path, typeAndParams{spec.PolicyType, spec.ParamKind}, typeAndParams{stored.PolicyType, stored.ParamKind}),
		checkTypeCheckingMode(path.Child("typeChecking"), spec.TypeChecking, stored.TypeChecking),
		optional(path.Child("paramKind"), spec.ParamKind, checkParamKind),
		required(path.Child("matchConstraints"), spec.MatchConstraints, checkMatchConstraints),
		checkMatchConditions(path.Child("matchConditions"), spec.MatchConditions, expressions),
		checkVariables(path.Child("variables"), spec.Variables, expressions),
		checkLookups(path.Child("lookups"), spec.Lookups, stored.Lookups, expressions),
	)

	validations, annotations := path.Child("validations"), path.Child("auditAnnotations")
	if len(spec.Validations)+len(spec.AuditAnnotations) == 0 {
		const empty = "validations or auditAnnotations must contain at least one item"
		errs = slices.Concat(errs, missing(validations, empty), missing(annotations, empty))
	}
	return slices.Concat(errs,
		checkValidations(validations, spec.Validations, stored.Validations, expressions),
		checkAuditAnnotations(annotations, policy.Name, spec.AuditAnnotations, expressions),
		expressions.rest(anatomy),
	)
}

var knownFailurePolicy = oneOf(v1.Fail, v1.Ignore)

// typeAndParams holds the fields of a policy on which its policyType depends.
type typeAndParams struct {
	policyType *v1.PolicyType
	paramKind  *v1.ParamKind
}

// checkPolicyType checks spec.policyType. A Singleton has no binding to select params, so it must
// not have a paramKind, unless both fields are those of the stored policy.
func checkPolicyType(path *field.Path, p, stored typeAndParams) field.ErrorList {
	kept := equality.Semantic.DeepEqual(p.policyType, stored.policyType) && equality.Semantic.DeepEqual(p.paramKind, stored.paramKind)
	return append(
		optional(path.Child("policyType"), p.policyType, unlessStored(oneOf(v1.SingletonPolicy).check, stored.policyType)),
		when(policyspec.IsSingleton(p.policyType) && p.paramKind != nil && !kept, field.Forbidden(path.Child("paramKind"),
			"a Singleton policy takes no parameters, as it has no binding to select them: remove paramKind or policyType"))...,
	)
}

func checkTypeCheckingMode(path *field.Path, mode, stored *v1.TypeCheckingMode) field.ErrorList {
	return optional(path, mode, unlessStored(oneOf(v1.EnforcedTypeChecking, v1.InformationalTypeChecking).check, stored))
}

func checkVariables(path *field.Path, variables []v1.Variable, expressions expressionErrors) field.ErrorList {
	return each(path, variables, func(path *field.Path, variable *v1.Variable) field.ErrorList {
		return slices.Concat(
			checkVariableName(path.Child("name"), variable.Name),
			expressions.take(path.Child("expression")),
		)
	})
}

func checkMetadata(meta *metav1.ObjectMeta) field.ErrorList {
	const namespaced = false
	return genericvalidation.ValidateObjectMeta(meta, namespaced, genericvalidation.NameIsDNSSubdomain, field.NewPath("metadata"))
}
