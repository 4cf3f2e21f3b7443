// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package typechecks checks the types of policies that clients write. It returns the errors that
// keep a policy from being stored, and warnings about other type errors and about exclude rules.
package typechecks

import (
	"sync"

	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/cel/environment"

	"celador.io/admission/policyspec"
	"celador.io/admission/typecheck"
	v1 "celador.io/api/admissionregistration/v1"
)

// A Validator checks the types of policies before they are stored. Types that it does not find,
// those of params among them, are dynamic. A nil Validator returns no errors. It is safe for
// concurrent use.
type Validator struct {
	// checker makes the checker on first use, because it depends on CEL's compatibility version,
	// which flags set.
	checker func() (*typecheck.Checker, error)
	types   func() typecheck.Types
}

// NewValidator returns a Validator. It calls the function types for each check of an Enforced
// policy, and uses the result for that check only.
func NewValidator(types func() typecheck.Types) *Validator {
	return &Validator{sync.OnceValues(func() (*typecheck.Checker, error) {
		return typecheck.New(environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion()), nil)
	}), types}
}

// Validating returns the type errors for which a policy must not be stored: if spec.typeChecking is
// Enforced, the errors of its expressions that has() does not guard. The policy must be otherwise
// valid; it is not changed.
func (v *Validator) Validating(policy *v1.ValidatingAdmissionPolicy) field.ErrorList {
	return validate(v, policy.Spec.TypeChecking, (*typecheck.Checker).CheckValidating, policy)
}

// Mutating validates a mutating policy like Validating. It also checks the objects that mutations
// construct.
func (v *Validator) Mutating(policy *v1.MutatingAdmissionPolicy) field.ErrorList {
	return validate(v, policy.Spec.TypeChecking, (*typecheck.Checker).CheckMutating, policy)
}

func validate[P any](v *Validator, mode *v1.TypeCheckingMode, check func(*typecheck.Checker, P) *typecheck.Result, policy P) field.ErrorList {
	if v == nil || !policyspec.IsEnforced(mode) {
		return nil
	}
	checker, err := v.checker()
	if err != nil {
		return field.ErrorList{field.InternalError(field.NewPath("spec"), err)}
	}
	return check(checker.With(v.types()), policy).FieldErrors()
}
