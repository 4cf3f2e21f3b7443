// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"sync"

	v1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apiserver/pkg/admission/plugin/cel"
	upstream "k8s.io/apiserver/pkg/admission/plugin/webhook"
	"k8s.io/apiserver/pkg/admission/plugin/webhook/matchconditions"

	"celador.io/admission/matching"
)

// accessor gives access to a webhook whose match conditions are evaluated by Celador's
// engine. Safe for concurrent use.
type accessor struct {
	upstream.WebhookAccessor
	// criteria are nil for a webhook that does not match anything.
	criteria *matching.Criteria
	// matcher compiles the conditions when the first request needs them.
	matcher func() *matcher
}

func (s *Step) newAccessor(of upstream.WebhookAccessor) *accessor {
	return &accessor{of, criteriaOf(of), sync.OnceValue(func() *matcher { return s.newMatcher(of) })}
}

// GetCompiledMatcher implements upstream.WebhookAccessor. It has no use for the compiler.
func (a *accessor) GetCompiledMatcher(cel.ConditionCompiler) matchconditions.Matcher {
	return a.matcher()
}

// unconditional is a webhook whose match conditions do not count.
type unconditional struct{ upstream.WebhookAccessor }

// GetMatchConditions returns none.
func (unconditional) GetMatchConditions() []v1.MatchCondition { return nil }
