// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package builtintypes has the types that are compiled into the server, and checks the
// expressions of policies against them. It asks nobody else about types, so it knows no
// custom resources.
package builtintypes

import (
	"fmt"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/cel/environment"

	"celador.io/admission/typecheck"
	v1 "celador.io/api/admissionregistration/v1"
)

// How many findings errors tell, and how many bytes of them.
const (
	maxFindings = 100
	maxText     = 256 << 10
)

// Validate returns the errors for which a policy must not be stored: those of its
// expressions against built-in types if spec.typeChecking is Enforced, and none
// otherwise. What has() rules out for one of several types is none. Types that are not built
// in, params among them, may be anything. Of very many errors, it returns the first ones and
// one that says how many others there are. The policy is valid in all other respects and is not
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
	result := check(checker, policy).Enforceable()
	more := shorten(result)
	var errs field.ErrorList
	for _, warning := range result.Warnings() {
		// The text quotes the expression, where it is wrong.
		errs = append(errs, field.Invalid(field.NewPath(warning.FieldRef), field.OmitValueType{}, strings.TrimSpace(warning.Warning)))
	}
	if more > 0 {
		errs = append(errs, field.Invalid(field.NewPath("spec"), field.OmitValueType{}, fmt.Sprintf("expressions do not fit types in %d more cases", more)))
	}
	return errs
}

// shorten keeps the first findings, which are enough to work on, and returns how many others
// there were. The errors have to fit into a response.
func shorten(result *typecheck.Result) int {
	size, kept := 0, 0
	for kept < min(len(result.Findings), maxFindings) && size+len(result.Findings[kept].Message) <= maxText {
		size += len(result.Findings[kept].Message)
		kept++
	}
	more := len(result.Findings) - kept
	result.Findings = result.Findings[:kept]
	return more
}

// newChecker makes the checker when it is first needed: it fixes CEL's compatibility
// version, so flags have to be parsed.
var newChecker = sync.OnceValues(func() (*typecheck.Checker, error) {
	return typecheck.New(environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion()), newMapper(), Schemas)
})
