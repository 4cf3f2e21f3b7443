// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package builtintypes provides the types that are compiled into the server, and type checks
// policies against them. It sends no requests and does not know custom resources.
package builtintypes

import (
	"fmt"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/cel/environment"
	"k8s.io/apiserver/pkg/cel/openapi/resolver"

	"celador.io/admission/policyspec"
	"celador.io/admission/typecheck"
	v1 "celador.io/api/admissionregistration/v1"
)

// maxFindings limits the findings in the errors of a policy, and maxText their bytes.
const (
	maxFindings = 100
	maxText     = 256 << 10
)

// Validate returns the type errors for which a policy must not be stored: if spec.typeChecking is
// Enforced, the errors of its expressions against built-in types that has() does not guard. Types
// that are not built in, params included, are dynamic. If there are very many errors, Validate
// returns the first of them and one with the number of the others. The policy must be otherwise
// valid; it is not changed. Validate is safe for concurrent use.
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
	result := check(checker, policy).Enforceable()
	more := shorten(result)
	var errs field.ErrorList
	for _, warning := range result.Warnings() {
		// The message quotes the expression, so the error omits the value.
		errs = append(errs, field.Invalid(field.NewPath(warning.FieldRef), field.OmitValueType{}, strings.TrimSpace(warning.Warning)))
	}
	if more > 0 {
		errs = append(errs, field.Invalid(field.NewPath("spec"), field.OmitValueType{}, fmt.Sprintf("expressions do not fit types in %d more cases", more)))
	}
	return errs
}

// shorten drops the findings beyond maxFindings and maxText, so that the errors fit into a response.
// It returns their number.
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

// newChecker returns the shared checker. It is created on first use, because it depends on CEL's
// compatibility version and so on flags.
var newChecker = sync.OnceValues(func() (*typecheck.Checker, error) {
	types := struct {
		meta.RESTMapper
		resolver.SchemaResolver
	}{newMapper(), Schemas}
	return typecheck.New(environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion()), types)
})
