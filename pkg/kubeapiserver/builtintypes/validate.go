// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package builtintypes has the types that are compiled into the server, and checks the
// expressions of policies against them. It asks nobody else about types, so it knows no
// custom resources.
package builtintypes

import (
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/cel/environment"

	"celador.io/admission/typecheck"
	v1 "celador.io/api/admissionregistration/v1"
)

// Validate returns the errors for which a policy must not be stored: those of its
// expressions against built-in types if spec.typeChecking is Enforced, and none
// otherwise. What has() rules out for one of several types is none. Types that are not built
// in, params among them, may be anything. The policy is valid in all other respects and is not
// changed. Safe for concurrent use.
func Validate(policy *v1.ValidatingAdmissionPolicy) field.ErrorList {
	return validate(policy.Spec.TypeChecking, (*typecheck.Checker).CheckValidating, policy)
}

// ValidateMutating is the same for a mutating policy, with the objects that its mutations
// construct.
func ValidateMutating(policy *v1.MutatingAdmissionPolicy) field.ErrorList {
	return validate(policy.Spec.TypeChecking, (*typecheck.Checker).CheckMutating, policy)
}

func validate[P any](mode *v1.TypeCheckingMode, check func(*typecheck.Checker, P) *typecheck.Result, policy P) field.ErrorList {
	if mode == nil || *mode != v1.EnforcedTypeChecking {
		return nil
	}
	checker, err := newChecker()
	if err != nil {
		return field.ErrorList{field.InternalError(field.NewPath("spec"), err)}
	}
	var errs field.ErrorList
	for _, warning := range check(checker, policy).Enforceable().Warnings() {
		// The text quotes the expression, where it is wrong.
		errs = append(errs, field.Invalid(field.NewPath(warning.FieldRef), field.OmitValueType{}, strings.TrimSpace(warning.Warning)))
	}
	return errs
}

// newChecker makes the checker when it is first needed: it fixes CEL's compatibility
// version, so flags have to be parsed.
var newChecker = sync.OnceValues(func() (*typecheck.Checker, error) {
	return typecheck.New(environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion()), newMapper(), Schemas)
})
