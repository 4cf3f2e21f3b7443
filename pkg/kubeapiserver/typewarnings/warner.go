// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package typewarnings warns the client that writes a policy about type errors in its expressions. The status of the policy
// reports them as well, but kubectl apply does not show it.
package typewarnings

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"unicode/utf8"

	"celador.io/admission/panics"
	"celador.io/admission/typecheck"
	v1 "celador.io/api/admissionregistration/v1"
)

const (
	// maxCost bounds the cost of a check, in the units of typecheck.Checker.Within. A policy that costs more is checked for the status only.
	maxCost = 64 << 10
	// maxWarnings limits the warnings about one policy, and maxText the bytes of each. The server sends at most 4096 bytes
	// of warnings.
	maxWarnings = 8
	maxText     = 480
)

// A Warner type checks policies that are written. It warns of nothing before Use. It is safe for concurrent use.
type Warner struct {
	checker *typecheck.Checker
	types   atomic.Pointer[func() typecheck.Types]
}

// New returns a Warner. The checker may have no types.
func New(checker *typecheck.Checker) *Warner { return &Warner{checker: checker.Within(maxCost)} }

// Use sets the function that returns the types for one check. The types must answer without requests to other servers.
func (w *Warner) Use(types func() typecheck.Types) { w.types.Store(&types) }

// Validating returns a warning for each type error in the expressions of a policy, with its position and the field that
// was probably meant. It returns nil if the types are not known, and for policies that take long to check. The policy is not
// changed.
func (w *Warner) Validating(_ context.Context, policy *v1.ValidatingAdmissionPolicy) []string {
	return w.warnings(policy.Name, func(c *typecheck.Checker) *typecheck.Result { return c.CheckValidating(policy) })
}

// Mutating returns the warnings about a mutating policy, as Validating does.
func (w *Warner) Mutating(_ context.Context, policy *v1.MutatingAdmissionPolicy) []string {
	return w.warnings(policy.Name, func(c *typecheck.Checker) *typecheck.Result { return c.CheckMutating(policy) })
}

func (w *Warner) warnings(name string, check func(*typecheck.Checker) *typecheck.Result) (warnings []string) {
	types := w.types.Load()
	if types == nil {
		return nil
	}
	// A policy must be stored even if its check fails.
	defer func() {
		if panicked := recover(); panicked != nil {
			panics.Record(panics.Compiler, panicked, "policy", name)
			warnings = nil
		}
	}()
	return Texts(check(w.checker.With((*types)())))
}

// Texts returns the findings of a check as warnings, each in one line. An error that an expression has for several types is
// one warning. Texts leaves out errors that has() guards against. If there are very many errors, the last warning says how
// many are left out.
func Texts(result *typecheck.Result) []string {
	type position struct {
		field string
		issue typecheck.Issue
	}
	var order []position
	types := map[position][]string{}
	for _, f := range result.Enforceable().Findings {
		for _, issue := range f.Issues {
			p := position{f.Field, issue}
			if types[p] == nil {
				order = append(order, p)
			}
			if on := f.On(); !slices.Contains(types[p], on) {
				types[p] = append(types[p], on)
			}
		}
	}
	var texts []string
	for i, p := range order {
		if i == maxWarnings-1 && len(order) > maxWarnings {
			texts = append(texts, fmt.Sprintf("%d more type errors: see status.typeChecking of the policy", len(order)-i))
			break
		}
		on := types[p][0]
		if more := len(types[p]) - 1; more > 0 {
			on = fmt.Sprintf("%s and %d more", on, more)
		}
		texts = append(texts, shorten(fmt.Sprintf("%s:%d:%d: %s", p.field, p.issue.Line, p.issue.Column, p.issue.Message), maxText-len(on))+" ("+on+")")
	}
	return texts
}

// shorten returns a text of at most about limit bytes that a header can hold.
func shorten(text string, limit int) string {
	text = strings.Join(strings.Fields(strings.ToValidUTF8(text, "")), " ")
	limit = max(limit, maxText/2)
	if len(text) <= limit {
		return text
	}
	for !utf8.RuneStart(text[limit]) {
		limit--
	}
	return text[:limit] + "..."
}
