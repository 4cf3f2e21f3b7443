// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"celador.io/admission/policyspec"
	v1 "celador.io/api/admissionregistration/v1"
)

// ValidateMutatingAdmissionPolicy returns the errors in metadata and spec of a policy that is to be
// created. The features determine the patch types that it may have. Expressions must compile with
// the CEL features of the previous minor version, so that a rollback is possible.
func ValidateMutatingAdmissionPolicy(policy *v1.MutatingAdmissionPolicy, features policyspec.Features) field.ErrorList {
	return distinct(checkMutatingPolicy(policy, nil, features))
}

// ValidateMutatingAdmissionPolicyUpdate returns the errors in metadata and spec of a policy that is
// to replace old. The policy may also have the patch types of features that old uses. Expressions
// that old contains may use every CEL feature. Match conditions are checked only if they or
// paramKind change. Fields that depend on features may keep the values that they have in old, even
// if they are not valid.
func ValidateMutatingAdmissionPolicyUpdate(policy, old *v1.MutatingAdmissionPolicy, features policyspec.Features) field.ErrorList {
	return distinct(checkMutatingPolicy(policy, old, features))
}

func checkMutatingPolicy(policy, old *v1.MutatingAdmissionPolicy, features policyspec.Features) field.ErrorList {
	spec, path := &policy.Spec, field.NewPath("spec")
	stored := &v1.MutatingAdmissionPolicySpec{} // on create
	if old != nil {
		stored = &old.Spec
	}
	anatomy := policyspec.Mutating(spec)
	expressions := checkExpressions(anatomy, policyspec.Mutating(stored))
	constraints, mutations := path.Child("matchConstraints"), path.Child("mutations")
	return slices.Concat(
		checkMetadata(&policy.ObjectMeta),
		knownFailurePolicy.required(path.Child("failurePolicy"), spec.FailurePolicy),
		checkPolicyType(path, typeAndParams{spec.PolicyType, spec.ParamKind}, typeAndParams{stored.PolicyType, stored.ParamKind}),
		checkTypeCheckingMode(path.Child("typeChecking"), spec.TypeChecking, stored.TypeChecking),
		optional(path.Child("paramKind"), spec.ParamKind, checkParamKind),
		required(constraints, spec.MatchConstraints, checkMatchConstraints),
		optional(constraints, spec.MatchConstraints, checkMutableOperations),
		checkMatchConditions(path.Child("matchConditions"), spec.MatchConditions, expressions),
		checkVariables(path.Child("variables"), spec.Variables, expressions),
		checkLookups(path.Child("lookups"), spec.Lookups, stored.Lookups, expressions),
		when(len(spec.Mutations) == 0, field.Required(mutations, "mutations must contain at least one item")),
		checkMutations(mutations, spec.Mutations, stored.Mutations, policyspec.PatchTypes(policyspec.InUse(stored, features)), expressions),
		knownReinvocation.required(path.Child("reinvocationPolicy"), unlessEmpty(&spec.ReinvocationPolicy)),
		expressions.rest(anatomy),
	)
}

var knownReinvocation = oneOf(v1.IfNeededReinvocationPolicy, v1.NeverReinvocationPolicy)

// checkMutableOperations rejects rules for DELETE, which has no object to change. The path of the
// error does not name the rule, as in Kubernetes.
func checkMutableOperations(path *field.Path, match *v1.MatchResources) field.ErrorList {
	mutable := oneOf(v1.OperationAll, v1.Connect, v1.Create, v1.Update)
	var errs field.ErrorList
	for _, rule := range match.ResourceRules {
		for i := range rule.Operations {
			errs = append(errs, mutable.check(path.Child("resourceRules", "operations"), &rule.Operations[i])...)
		}
	}
	return errs
}
