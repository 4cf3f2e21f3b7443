// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package typechecks

import (
	"context"
	"sync/atomic"

	"celador.io/admission/panics"
	"celador.io/admission/typecheck"
	v1 "celador.io/api/admissionregistration/v1"
)

// maxCost bounds the cost of a check, so that the write of a policy does not wait long for it, in
// the units of typecheck.Checker.Within. A policy whose check costs more gets no warnings, but is
// checked for its status.
const maxCost = 64 << 10

// A Warner warns a client that writes a policy about type errors in its expressions, about exclude
// rules that also exclude requests in versions that they do not name, and about lookups whose
// latest objects cannot be read. The status of the policy reports type errors, too, but kubectl
// apply does not show it. Before Use is called, a Warner returns no warnings. It is safe for
// concurrent use.
type Warner struct {
	checker *typecheck.Checker
	types   atomic.Pointer[func() typecheck.Types]
	latest  atomic.Pointer[HasLatest]
}

// New returns a Warner that checks with a checker. The checker needs no types: Use sets them.
func New(checker *typecheck.Checker) *Warner { return &Warner{checker: checker.Within(maxCost)} }

// Use sets the function that returns the types for one check. The types must answer without
// requests to other servers.
func (w *Warner) Use(types func() typecheck.Types) { w.types.Store(&types) }

// UseLatest sets the function that tells which lookups can have consistency Latest. Before it is
// called, a Warner assumes that all can.
func (w *Warner) UseLatest(has HasLatest) { w.latest.Store(&has) }

// Validating returns a warning for each type error in the expressions of a policy, with its
// position and the field that was probably meant. Policies that take long to check have none. After
// these, it returns a warning for each resource of which an exclude rule names one version and a
// resource rule matches another, and one for each lookup with consistency Latest that always fails.
// It returns nil if the types are not known. The policy is not changed.
func (w *Warner) Validating(ctx context.Context, policy *v1.ValidatingAdmissionPolicy) []string {
	return w.warnings(ctx, policy.Name, policy.Spec.MatchConstraints, policy.Spec.Lookups, func(c *typecheck.Checker) *typecheck.Result { return c.CheckValidating(policy) })
}

// Mutating returns the warnings about a mutating policy, as Validating does.
func (w *Warner) Mutating(ctx context.Context, policy *v1.MutatingAdmissionPolicy) []string {
	return w.warnings(ctx, policy.Name, policy.Spec.MatchConstraints, policy.Spec.Lookups, func(c *typecheck.Checker) *typecheck.Result { return c.CheckMutating(policy) })
}

func (w *Warner) warnings(ctx context.Context, name string, match *v1.MatchResources, lookups []v1.Lookup, check func(*typecheck.Checker) *typecheck.Result) (warnings []string) {
	types := w.types.Load()
	if types == nil {
		return nil
	}
	// A panic of the check must not keep the policy from being stored.
	defer func() {
		if panicked := recover(); panicked != nil {
			panics.Record(panics.Compiler, panicked, "policy", name)
			warnings = nil
		}
	}()
	known := (*types)()
	warnings = append(check(w.checker.With(known)).ClientWarnings(), exclusionWarnings(match, known)...)
	if has := w.latest.Load(); has != nil {
		warnings = append(warnings, latestWarnings(ctx, lookups, known, *has)...)
	}
	return warnings
}
