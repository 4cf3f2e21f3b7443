// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"slices"

	"celador.io/admission/policy"
	"celador.io/admission/validating"
)

// addResults adds what the policies did to a review.
func (c *Cluster) addResults(review *Review, r *record) {
	for _, of := range []struct{ uncalled, matched []WebhookReview }{
		{r.policies.mutatingWebhooks.uncalled, r.mutatingWebhooks},
		{r.policies.validatingWebhooks.uncalled, r.validatingWebhooks},
	} {
		if of.matched == nil {
			of.matched = of.uncalled
		}
		review.Webhooks = append(review.Webhooks, of.matched...)
	}
	review.AuditAnnotations = map[string]string{}
	annotate := func(annotations []policy.Annotation) {
		for _, a := range annotations {
			review.AuditAnnotations[a.Key] = a.Value
		}
	}
	for _, round := range r.mutations {
		annotate(round.AuditAnnotations())
	}
	annotations, _ := r.validation.AuditAnnotations()
	annotate(annotations)
	for i := range c.policies.described {
		p := r.review(&c.policies.described[i], r.mismatches[i])
		if p.Outcome == NotReached && review.Allowed {
			// An example is the second deletion of a Pod that terminates already.
			p.Outcome, p.Reason = NotMatched, "the server asks no policy about this request"
		}
		review.Policies = append(review.Policies, p)
	}
}

// review returns what a policy did, through one binding. mismatch is why it does not match, if it does not.
func (r *record) review(d *described, mismatch string) PolicyReview {
	p := PolicyReview{Kind: d.kind, Policy: d.policy, Binding: d.binding}
	reached := r.validated
	if d.kind == MutatingKind {
		reached = r.mutated
		r.addMutations(&p)
	} else {
		r.addDecisions(&p)
	}
	switch {
	case p.Outcome != "":
	case !reached:
		p.Outcome, p.Reason = NotReached, "the request was rejected before"
	case mismatch != "":
		p.Outcome, p.Reason = NotMatched, mismatch
	case d.binding == "" && !d.singleton:
		p.Outcome, p.Reason = NotMatched, "the policy has no binding"
	case r.conditions(d) != nil:
		p.Outcome, p.Reason = Excluded, "a match condition is false"
		if r.conditions(d).Errors > 0 {
			p.Reason = "a match condition is false or cannot be evaluated, and failurePolicy is Ignore"
		}
	case d.kind == MutatingKind && r.mutationFailed():
		p.Outcome, p.Reason = NotReached, "another policy rejected the request before"
	case d.fallback && r.decidedElsewhere(d):
		p.Outcome, p.Reason = NotMatched, "the binding is a fallback and another one applies"
	case d.hasParams:
		p.Outcome, p.Reason = NotMatched, "paramRef of the binding selects no object"
	default:
		p.Outcome = Admitted
	}
	return p
}

// addMutations adds the mutations and failures of a mutating policy.
func (r *record) addMutations(p *PolicyReview) {
	for _, round := range r.mutations {
		for _, m := range round.Mutations {
			if m.Policy != p.Policy || m.Binding != p.Binding {
				continue
			}
			p.Mutations = append(p.Mutations, m)
			switch {
			case m.Err != nil:
				p.Outcome = Failed
			case m.Changed && p.Outcome != Failed:
				p.Outcome = Mutated
			case p.Outcome == "":
				p.Outcome = Admitted
			}
		}
		for _, f := range round.Failures {
			if f.Policy != p.Policy || f.Binding != "" && f.Binding != p.Binding {
				continue
			}
			p.Failures = append(p.Failures, f)
			if p.Outcome = Failed; f.Stated {
				p.Outcome = Denied
			}
		}
	}
}

// addDecisions adds the decisions of a validating policy.
func (r *record) addDecisions(p *PolicyReview) {
	for _, d := range r.validation.Decisions() {
		if d.Policy != p.Policy || d.Binding != "" && d.Binding != p.Binding {
			continue
		}
		p.Decisions = append(p.Decisions, d)
		switch {
		case d.Outcome == validating.Denied:
			p.Outcome = Denied
		case d.Outcome != validating.Admitted && p.Outcome != Denied:
			p.Outcome = Failed
		case p.Outcome == "":
			p.Outcome = Admitted
		}
	}
}

// conditions returns the report of match conditions that ended the evaluation of the policy, or nil.
func (r *record) conditions(d *described) *policy.ConditionReport {
	reports := r.validation.Conditions
	if d.kind == MutatingKind {
		reports = nil
		for _, round := range r.mutations {
			reports = append(reports, round.Conditions...)
		}
	}
	if i := slices.IndexFunc(reports, func(c policy.ConditionReport) bool { return c.Policy == d.policy }); i >= 0 {
		return &reports[i]
	}
	return nil
}

// decidedElsewhere reports whether the policy decided through another binding.
func (r *record) decidedElsewhere(d *described) bool {
	return slices.ContainsFunc(r.validation.Decisions(), func(decision validating.Decision) bool {
		return decision.Policy == d.policy && decision.Binding != d.binding
	})
}

// mutationFailed reports whether a mutating policy rejected the request.
func (r *record) mutationFailed() bool {
	return len(r.mutations) > 0 && r.mutations[len(r.mutations)-1].Err() != nil
}
