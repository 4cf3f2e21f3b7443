// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package typechecks checks the types of policies that clients write: it returns the errors for
// which a policy must not be stored, and warnings about the others.
package typechecks

import (
	"sync"

	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/cel/environment"

	"celador.io/admission/policyspec"
	"celador.io/admission/typecheck"
	v1 "celador.io/api/admissionregistration/v1"

	"celador.io/celador/pkg/kubeapiserver/builtintypes"
)

// Validate returns the type errors for which a policy must not be stored: if spec.typeChecking is
// Enforced, the errors of its expressions against built-in types that has() does not guard. Types
// that are not built in, params included, are dynamic. The policy must be otherwise valid; it is
// not changed. Validate sends no requests, and is safe for concurrent use.
func Validate(policy *v1.ValidatingAdmissionPolicy) field.ErrorList {
	return validate(policy.Spec.TypeChecking, (*typecheck.Checker).CheckValidating, policy)
}

// ValidateMutating validates a mutating policy like Validate. It also checks the objects that
// mutations construct.
func ValidateMutating(policy *v1.MutatingAdmissionPolicy) field.ErrorList {
	return validate(policy.Spec.TypeChecking, (*typecheck.Checker).CheckMutating, policy)
}

func validate[P any](mode *v1.TypeCheckingMode, check func(*typecheck.Checker, P) *typecheck.Result, policy P) field.ErrorList {
	if !policyspec.IsEnforced(mode) {
		return nil
	}
	checker, err := newChecker()
	if err != nil {
		return field.ErrorList{field.InternalError(field.NewPath("spec"), err)}
	}
	return check(checker, policy).FieldErrors()
}

// newChecker returns the shared checker. It is created on first use, because it depends on CEL's
// compatibility version and so on flags.
var newChecker = sync.OnceValues(func() (*typecheck.Checker, error) {
	return typecheck.New(environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion()), builtintypes.Types())
})
