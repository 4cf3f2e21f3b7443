// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"slices"

	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation/field"

	v1 "celador.io/api/admissionregistration/v1"
	"celador.io/celador/pkg/apis/admissionregistration"
)

// ValidateMutatingAdmissionPolicy returns what is wrong with a policy that is to be
// created: metadata and spec; a new object has no status. Mutations may have the given
// patch types. Expressions must compile with the CEL features that the previous minor
// version knows too, so that a rollback is possible.
func ValidateMutatingAdmissionPolicy(policy *admissionregistration.MutatingAdmissionPolicy, patchTypes []v1.PatchType) field.ErrorList {
	return distinct(checkMutatingPolicy(policy, nil, patchTypes))
}

// ValidateMutatingAdmissionPolicyUpdate returns what is wrong with a policy that is to
// replace old: metadata and spec. What old already contains is judged more leniently: its
// expressions may use every CEL feature, and its match conditions are not looked at
// again while they and paramKind stay the same. The fields of this project's own may keep
// their values.
func ValidateMutatingAdmissionPolicyUpdate(policy, old *admissionregistration.MutatingAdmissionPolicy, patchTypes []v1.PatchType) field.ErrorList {
	return distinct(checkMutatingPolicy(policy, old, patchTypes))
}

func checkMutatingPolicy(policy, old *admissionregistration.MutatingAdmissionPolicy, patchTypes []v1.PatchType) field.ErrorList {
	spec, path := &policy.Spec, field.NewPath("spec")
	stored := &v1.MutatingAdmissionPolicySpec{} // on create
	if old != nil {
		stored = &old.Spec
	}
	constraints, mutations := path.Child("matchConstraints"), path.Child("mutations")
	errs := slices.Concat(
		checkMetadata(&policy.ObjectMeta),
		required(path.Child("failurePolicy"), spec.FailurePolicy, oneOf(v1.Fail, v1.Ignore)),
		checkTypeCheckingMode(path.Child("typeChecking"), spec.TypeChecking, stored.TypeChecking),
		optional(path.Child("paramKind"), spec.ParamKind, checkParamKind),
		required(constraints, spec.MatchConstraints, checkMatchConstraints),
		optional(constraints, spec.MatchConstraints, checkMutableOperations),
	)

	scope := newScope(policy.Name, spec.ParamKind, expressionsOfMutating(stored))
	defer scope.release()
	if old == nil || !sameMatchConditions(spec.ParamKind, stored.ParamKind, spec.MatchConditions, stored.MatchConditions) {
		errs = append(errs, scope.checkMatchConditions(path.Child("matchConditions"), spec.MatchConditions)...)
	}
	// Mutations can read 'variables' even where there are none.
	scope.compose()
	return slices.Concat(errs,
		each(path.Child("variables"), spec.Variables, scope.checkVariable),
		when(len(spec.Mutations) == 0, field.Required(mutations, "mutations must contain at least one item")),
		scope.checkMutations(mutations, spec.Mutations, stored.Mutations, patchTypes),
		checkReinvocationPolicy(path.Child("reinvocationPolicy"), spec.ReinvocationPolicy),
	)
}

var knownReinvocation = oneOf(v1.IfNeededReinvocationPolicy, v1.NeverReinvocationPolicy)

func checkReinvocationPolicy(path *field.Path, policy v1.ReinvocationPolicyType) field.ErrorList {
	if policy == "" {
		return missing(path, "")
	}
	return knownReinvocation(path, &policy)
}

// checkMutableOperations refuses rules for DELETE, which has no object to change. The
// path of the error is Kubernetes': it does not say which rule.
func checkMutableOperations(path *field.Path, match *v1.MatchResources) field.ErrorList {
	mutable := oneOf(v1.OperationAll, v1.Connect, v1.Create, v1.Update)
	var errs field.ErrorList
	for _, rule := range match.ResourceRules {
		for i := range rule.Operations {
			errs = append(errs, mutable(path.Child("resourceRules", "operations"), &rule.Operations[i])...)
		}
	}
	return errs
}

// expressionsOfMutating collects every expression of a policy.
func expressionsOfMutating(spec *v1.MutatingAdmissionPolicySpec) sets.Set[string] {
	all := sets.New[string]()
	for _, condition := range spec.MatchConditions {
		all.Insert(condition.Expression)
	}
	for _, variable := range spec.Variables {
		all.Insert(variable.Expression)
	}
	for i := range spec.Mutations {
		mutation := &spec.Mutations[i]
		for _, source := range []*string{mutation.Expression, mutation.Condition} {
			if source != nil {
				all.Insert(*source)
			}
		}
		for _, form := range formsOf(mutation) {
			if form.expression != nil {
				all.Insert(*form.expression)
			}
		}
	}
	return all
}
