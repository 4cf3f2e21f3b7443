// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"cmp"
	"slices"
	"strings"

	"celador.io/admission/policy"
	"celador.io/admission/validating"
)

// addResults adds the effects of policies and webhooks on the request to the response.
func (c *Cluster) addResults(response *Response, r *results) {
	for _, of := range []struct{ uncalled, matched []WebhookRecord }{
		{r.policies.mutatingWebhooks.uncalled, r.mutatingWebhooks},
		{r.policies.validatingWebhooks.uncalled, r.validatingWebhooks},
	} {
		if of.matched == nil {
			of.matched = of.uncalled
		}
		response.Webhooks = append(response.Webhooks, of.matched...)
	}
	response.AuditAnnotations = map[string]string{}
	annotate := func(annotations []policy.Annotation) {
		for _, a := range annotations {
			response.AuditAnnotations[a.Key] = a.Value
		}
	}
	for _, round := range r.mutations {
		annotate(round.AuditAnnotations())
	}
	annotations, _ := r.validation.AuditAnnotations()
	annotate(annotations)
	for i := range c.policies.described {
		p := r.policyRecord(&c.policies.described[i], r.mismatches[i])
		if p.Effect == NotReached && response.Allowed {
			// Some requests are performed without admission, such as a deletion of a Pod that
			// terminates already.
			p.Effect, p.Reason = NotMatched, "the server asks no policy about this request"
		}
		response.Policies = append(response.Policies, p)
	}
}

// policyRecord returns what a policy did to the request through one binding. mismatch is the reason
// why it does not match, or empty.
func (r *results) policyRecord(d *described, mismatch string) PolicyRecord {
	p := PolicyRecord{Kind: d.kind, Policy: d.policy, Binding: d.binding}
	reached := r.validated
	if d.kind == MutatingKind {
		reached = r.mutated
		r.addMutations(&p)
	} else {
		r.addDecisions(&p)
	}
	switch {
	case p.Effect != "":
	case !reached:
		p.Effect, p.Reason = NotReached, "the request was rejected before"
	case mismatch != "":
		p.Effect, p.Reason = NotMatched, mismatch
	default:
		p.Effect, p.Reason = r.effectWithoutReport(d)
	}
	return p
}

// effectWithoutReport returns the effect of a policy that matches, but about which the engine has
// reported nothing: neither a decision, a mutation nor a failure.
func (r *results) effectWithoutReport(d *described) (effect Effect, reason string) {
	conditions := r.conditions(d)
	switch {
	case slices.ContainsFunc(conditions, func(c policy.ConditionReport) bool { return c.Errors > 0 }):
		return Excluded, "a match condition is false or cannot be evaluated, and failurePolicy is Ignore"
	case len(conditions) > 0:
		return Excluded, "a match condition is false"
	case d.kind == MutatingKind && r.endedBefore(d):
		return NotReached, "another policy rejected the request before"
	}
	return Admitted, ""
}

// addMutations adds the mutations and failures of a mutating policy.
func (r *results) addMutations(p *PolicyRecord) {
	for _, round := range r.mutations {
		for _, m := range round.Mutations {
			if m.Policy != p.Policy || m.Binding != p.Binding {
				continue
			}
			p.Mutations = append(p.Mutations, m)
			switch {
			case m.Err != nil:
				p.Effect = Failed
			case m.Changed && p.Effect != Failed:
				p.Effect = Mutated
			case p.Effect == "":
				p.Effect = Admitted
			}
		}
		for _, f := range round.Failures {
			if f.Policy != p.Policy || f.Binding != "" && f.Binding != p.Binding {
				continue
			}
			p.Failures = append(p.Failures, f)
			if p.Effect = Failed; f.Refused {
				p.Effect = Denied
			}
		}
	}
}

// addDecisions adds the decisions of a validating policy.
func (r *results) addDecisions(p *PolicyRecord) {
	for _, d := range r.validation.Decisions() {
		if d.Policy != p.Policy || d.Binding != "" && d.Binding != p.Binding {
			continue
		}
		p.Decisions = append(p.Decisions, d)
		switch {
		case d.Outcome == validating.Denied:
			p.Effect = Denied
		case d.Outcome != validating.Admitted && p.Effect != Denied:
			p.Effect = Failed
		case p.Effect == "":
			p.Effect = Admitted
		}
	}
}

// conditions returns the reports of match conditions that exempted the request from the policy
// through the binding.
func (r *results) conditions(d *described) []policy.ConditionReport {
	reports := r.validation.Conditions
	if d.kind == MutatingKind {
		reports = nil
		for _, round := range r.mutations {
			reports = append(reports, round.Conditions...)
		}
	}
	return slices.DeleteFunc(slices.Clone(reports), func(c policy.ConditionReport) bool {
		return c.Policy != d.policy || c.Binding != d.binding
	})
}

// endedBefore reports whether a mutation ended the request before the policy was evaluated through
// the binding. Policies are evaluated in the order of their names and those of bindings. A failure
// alone does not end the request.
func (r *results) endedBefore(d *described) bool {
	if !r.mutationEnded || len(r.mutations) != 1 {
		return false
	}
	mutations := r.mutations[0].Mutations
	if len(mutations) == 0 {
		return true
	}
	last := mutations[len(mutations)-1]
	return cmp.Or(strings.Compare(last.Policy, d.policy), strings.Compare(last.Binding, d.binding)) < 0
}
