// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package policy stores compiled policies and their bindings, and finds those that match a request
// together with their params. It serves every kind of policy.
//
// Packages validating and mutating compile and evaluate the part that differs between kinds, the
// body of a Policy.
package policy

import (
	"errors"
	"fmt"
	"time"

	v1 "celador.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"celador.io/admission/cel/expression"
	"celador.io/admission/internal/activation"
	"celador.io/admission/matching"
	"celador.io/admission/policyspec"
)

// Policy is a policy whose expressions are compiled when Compiled is first called. Safe for
// concurrent use.
type Policy[Body any] struct {
	Name string
	// FailurePolicy defaults to Fail.
	FailurePolicy v1.FailurePolicyType
	// ParamKind is nil if the policy takes no params.
	ParamKind *ParamKind

	lookups     []activation.LookupDefinition
	constraints *v1.MatchResources
	// criteria holds the compiled constraints. The store sets it. Policies whose constraints are at
	// the same address share it.
	criteria *matching.Criteria
	// invalid is the error with which the policy fails every request, whatever the verdict is.
	invalid error
	// expressions is shared by all copies of the policy.
	expressions *lazy[Body]
	// uid and generation identify the version of the object, to which verdicts refer.
	uid        types.UID
	generation int64
	// enforced is set if the policy needs a nil verdict to decide, because its typeChecking is
	// Enforced.
	enforced bool
	// verdict is nil until there is a verdict on this or an earlier generation.
	verdict *verdict
	// evaluations is shared by all copies of the policy, and by the versions of a stored policy.
	evaluations *tally
	// evaluatedUntil is the time until which the policy counts as evaluated because an earlier
	// version was. The store sets it.
	evaluatedUntil time.Time
	// singleton is set if the policy applies without a binding.
	singleton bool
}

// ParamKind is a paramKind with its apiVersion parsed.
type ParamKind struct {
	*v1.ParamKind
	schema.GroupVersionKind
}

var errNoMatchConstraints = errors.New("policy contained no match constraints, a required field")

// New returns the policy of an object with the given anatomy. When the policy is compiled, body is
// called with the compiled expressions and returns the policy's body, unless the policy fails every
// request.
func New[Body any](compiler *expression.Compiler, object metav1.Object, anatomy *policyspec.Anatomy, body func(*Compilation) Body) *Policy[Body] {
	result := &Policy[Body]{
		Name: object.GetName(), uid: object.GetUID(), generation: object.GetGeneration(),
		FailurePolicy: anatomy.FailurePolicy, singleton: anatomy.Singleton, enforced: anatomy.Enforced(),
		constraints: anatomy.MatchConstraints, expressions: &lazy[Body]{}, evaluations: &tally{},
	}
	if result.constraints == nil {
		result.constraints, result.invalid = &v1.MatchResources{}, errNoMatchConstraints
		return result
	}
	if kind := anatomy.ParamKind; kind != nil {
		version, err := schema.ParseGroupVersion(kind.APIVersion)
		if err != nil {
			result.invalid = fmt.Errorf("failed to parse paramKind APIVersion: %w", err)
			return result
		}
		result.ParamKind = &ParamKind{kind, version.WithKind(kind.Kind)}
	}
	for i := range anatomy.Lookups {
		lookup := &anatomy.Lookups[i]
		version, err := schema.ParseGroupVersion(lookup.APIVersion)
		if err != nil {
			result.invalid = fmt.Errorf("failed to parse the apiVersion of lookup '%s': %w", lookup.Name, err)
			return result
		}
		definition := activation.LookupDefinition{Lookup: lookup, Kind: version.WithKind(lookup.Kind)}
		if lookup.Index != nil {
			definition.Index = activation.NewLookupIndexer(compiler, *lookup.Index)
		}
		result.lookups = append(result.lookups, definition)
	}
	result.expressions.compile = func() *CompiledSpec[Body] {
		c := compile(compiler, anatomy)
		c.announce(compiler, result.Name)
		// The function body may append to the errors of c.
		compiled := &CompiledSpec[Body]{Conditions: c.conditions, Variables: c.variables, Body: body(c)}
		compiled.errors, compiled.programs = c.broken, c.programs()
		return compiled
	}
	return result
}

// Compiled returns the compiled expressions of the policy, and marks the policy as evaluated by a
// request. The first call compiles them unless the store has done so; concurrent calls wait for it.
func (p *Policy[Body]) Compiled() *CompiledSpec[Body] {
	if !p.expressions.evaluated.Load() { // a write in each request would take the cache line from other processors
		p.expressions.evaluated.Store(true)
	}
	return p.expressions.get()
}

// Errors compiles the policy and returns the errors with which the policy fails requests of any
// kind, such as compilation errors. The error of a field begins with the field's path.
func (p *Policy[Body]) Errors() []error {
	if p.invalid != nil {
		return []error{p.invalid}
	}
	return p.expressions.get().errors
}

// failsRequests reports whether the policy is misconfigured, or an expression is known not to
// compile.
func (p *Policy[Body]) failsRequests() bool {
	compiled := p.expressions.compiled.Load()
	return p.misconfiguration() != nil || compiled != nil && len(compiled.errors) > 0
}

// misconfiguration returns the error with which the policy fails every request, or nil.
func (p *Policy[Body]) misconfiguration() error {
	switch {
	case p.invalid != nil || !p.enforced:
		return p.invalid
	case p.verdict == nil:
		return errUnchecked
	default:
		return p.verdict.err
	}
}
