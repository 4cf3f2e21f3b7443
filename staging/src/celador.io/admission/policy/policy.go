// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"errors"
	"fmt"

	v1 "celador.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"celador.io/admission/expression"
	"celador.io/admission/internal/matchconditions"
	"celador.io/admission/matching"
	"celador.io/admission/policyspec"
)

// Policy is a compiled policy. Body holds the part that differs between kinds. Immutable.
//
// Expressions that do not compile stay in the policy with their errors, and requests that
// evaluate them fail.
type Policy[B any] struct {
	Name string
	// FailurePolicy defaults to Fail.
	FailurePolicy v1.FailurePolicyType
	// ParamKind is nil if the policy takes no params.
	ParamKind  *ParamKind
	Conditions matchconditions.Conditions
	Variables  []expression.Variable
	// ReadsParams is set if an expression may read 'params'.
	ReadsParams bool
	// Body is the zero value if the policy fails every request.
	Body B

	criteria *matching.Criteria
	// invalid is the error with which the policy fails every request, whatever the verdict is.
	invalid error
	// uid and generation identify the version of the object.
	uid        types.UID
	generation int64
	// enforced is set if the policy needs a nil verdict to decide, because its typeChecking is Enforced.
	enforced bool
	// verdict is nil until there is a verdict on this or an earlier generation.
	verdict *verdict
	// singleton is set if the policy applies without a binding.
	singleton bool
	// broken holds the errors of the expressions that do not compile, with their field paths.
	broken []error
}

// ParamKind is a paramKind with its apiVersion parsed.
type ParamKind struct {
	*v1.ParamKind
	schema.GroupVersionKind
}

var errNoMatchConstraints = errors.New("policy contained no match constraints, a required field")

// Compile returns the compiled policy of an object with the given anatomy. body is called with
// the compiled expressions and returns the policy's body, unless the policy fails every request.
func Compile[B any](compiler *expression.Compiler, object metav1.Object, anatomy *policyspec.Policy, body func(*Compilation) B) *Policy[B] {
	result := &Policy[B]{
		Name: object.GetName(), uid: object.GetUID(), generation: object.GetGeneration(),
		FailurePolicy: anatomy.FailurePolicy, singleton: anatomy.Singleton, enforced: anatomy.Enforced(),
	}
	if anatomy.MatchConstraints == nil {
		result.criteria, result.invalid = matching.Compile(&v1.MatchResources{}), errNoMatchConstraints
		return result
	}
	result.criteria = matching.Compile(anatomy.MatchConstraints)
	if kind := anatomy.ParamKind; kind != nil {
		version, err := schema.ParseGroupVersion(kind.APIVersion)
		if err != nil {
			result.invalid = fmt.Errorf("failed to parse paramKind APIVersion: %w", err)
			return result
		}
		result.ParamKind = &ParamKind{kind, version.WithKind(kind.Kind)}
	}
	c := compile(compiler, anatomy)
	result.Conditions, result.Variables, result.ReadsParams = c.conditions, c.variables, c.readsParams
	result.Body = body(c)
	result.broken = c.broken
	return result
}

func (p *Policy[B]) valid() bool { return p.misconfiguration() == nil && len(p.broken) == 0 }

// Errors returns the errors with which the policy fails requests of any kind, such as compilation errors.
// The error of a field begins with the field's path.
func (p *Policy[B]) Errors() []error {
	if p.invalid != nil {
		return []error{p.invalid}
	}
	return p.broken
}

// misconfiguration returns the error with which the policy fails every request, or nil.
func (p *Policy[B]) misconfiguration() error {
	switch {
	case p.invalid != nil || !p.enforced:
		return p.invalid
	case p.verdict == nil:
		return errUnchecked
	default:
		return p.verdict.err
	}
}
