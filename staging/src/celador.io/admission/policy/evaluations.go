// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"maps"
	"slices"
	"sync/atomic"
)

// Outcome is the outcome of an evaluation: of a policy for one request, through one binding and
// with one param. Worse outcomes are greater.
type Outcome int

const (
	// Admitted means that the policy has no violation.
	Admitted Outcome = iota
	// Denied means that a validation is not satisfied or a mutation refuses the request, whatever
	// the validationActions of the binding are.
	Denied
	// Failed means that a part of the policy could not be evaluated, whatever the failurePolicy is.
	Failed

	outcomes = iota
)

var outcomeNames = [outcomes]string{"admitted", "denied", "failed"}

// String returns the outcome in lower case.
func (o Outcome) String() string { return outcomeNames[o] }

// tally counts the evaluations of a policy by outcome.
type tally [outcomes]atomic.Uint64

// CountEvaluation counts an evaluation of the policy. Requests that match conditions exempt from
// the policy are not evaluations.
func (p *Policy[Body]) CountEvaluation(o Outcome) { p.evaluations[o].Add(1) }

// An EvaluationObserver is called with a policy, an outcome, and the number of evaluations of the
// policy that had this outcome.
type EvaluationObserver func(policy string, outcome Outcome, n uint64)

// observeEvaluations calls observe for each outcome if there were evaluations. It includes outcomes
// that did not occur: a monitoring system that does not know the zero misses the first increase.
func (p *Policy[Body]) observeEvaluations(observe EvaluationObserver) {
	var counts [outcomes]uint64
	for o := range p.evaluations {
		counts[o] = p.evaluations[o].Load()
	}
	if counts == [outcomes]uint64{} {
		return
	}
	for o, n := range counts {
		observe(p.Name, Outcome(o), n)
	}
}

// ObserveEvaluations calls observe for the stored policies that were evaluated, once for each
// outcome. A policy that replaced another one with the same name has the evaluations of both.
func (s *Store[PolicyObject, BindingObject, Body]) ObserveEvaluations(observe EvaluationObserver) {
	s.lock.Lock()
	policies := slices.Collect(maps.Values(s.policies))
	s.lock.Unlock()
	for _, p := range policies {
		p.observeEvaluations(observe)
	}
}

// ObserveEvaluations calls observe for the policies of the snapshot that were evaluated, once for
// each outcome.
func (s *Snapshot[Body]) ObserveEvaluations(observe EvaluationObserver) {
	for _, p := range s.policies {
		p.observeEvaluations(observe)
	}
}
