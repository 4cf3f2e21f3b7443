// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package suite

import (
	"fmt"
	"slices"
	"strings"

	admissionv1 "celador.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"celador.io/admission/validating"
	"celador.io/offline/cluster"
)

// A finding is an objection of a policy to a request.
type finding struct {
	policy, binding string
	validation      int // the index of the validation, or -1
	message         string
	reason          metav1.StatusReason
	// failed is set if the policy could not be evaluated, and not set if it denies.
	failed bool
	// ignored is set if the policy could not be evaluated, and its failurePolicy is Ignore.
	ignored bool
	// enforced is set if the server rejects the request because of the finding.
	enforced bool
}

func (f finding) String() string {
	text := "policy " + f.policy
	if f.binding != "" {
		text += ", binding " + f.binding
	}
	if f.validation >= 0 {
		text += fmt.Sprintf(", validation %d", f.validation)
	}
	return text + ": " + f.message
}

func findings(reviews []cluster.PolicyReview) []finding {
	var found []finding
	for _, review := range reviews {
		for _, decision := range review.Decisions {
			if decision.Outcome == validating.Admitted {
				continue
			}
			f := finding{
				policy: review.Policy, binding: review.Binding, validation: decision.Index,
				message: decision.Message, reason: decision.Reason,
				failed:   decision.Outcome != validating.Denied,
				ignored:  decision.Ignored,
				enforced: !decision.Ignored && slices.Contains(decision.Actions, admissionv1.Deny),
			}
			if decision.Outcome == validating.Misconfigured {
				f.validation = -1
			}
			found = append(found, f)
		}
		for _, failure := range review.Failures {
			found = append(found, finding{
				policy: review.Policy, binding: review.Binding, validation: -1,
				message: failure.Message, reason: failure.Reason,
				failed: !failure.Stated, ignored: failure.Ignored, enforced: !failure.Ignored,
			})
		}
	}
	return found
}

// scope returns the reviews of the policy and the binding of an expectation. An empty name stands for all.
func scope(reviews []cluster.PolicyReview, policy, binding string) []cluster.PolicyReview {
	kind, name := cutKind(policy)
	var kept []cluster.PolicyReview
	for _, review := range reviews {
		if (name == "" || review.Policy == name) && (kind == "" || review.Kind == kind) && (binding == "" || review.Binding == binding) {
			kept = append(kept, review)
		}
	}
	return kept
}

// notReached is the decision of a policy that a request did not reach. No suite can expect it.
const notReached Decision = "NotReached"

// decide returns the decision of the policies in scope, and the reason for it in words.
func decide(review *cluster.Review, inScope []cluster.PolicyReview) (decision Decision, why string) {
	enforced := func(f finding) bool { return f.enforced }
	if !review.Allowed && !slices.ContainsFunc(findings(review.Policies), enforced) {
		return Rejected, statusMessage(review)
	}
	for _, failed := range []bool{false, true} {
		var reasons []string
		for _, f := range findings(inScope) {
			if f.enforced && f.failed == failed {
				reasons = append(reasons, f.String())
			}
		}
		if len(reasons) > 0 {
			return map[bool]Decision{false: Denied, true: Error}[failed], strings.Join(reasons, "; ")
		}
	}
	var applied, reasons []string
	decision = NoMatch
	for _, r := range inScope {
		name := "policy " + r.Policy
		if r.Binding != "" {
			name += ", binding " + r.Binding
		}
		switch {
		case r.Applied():
			applied = append(applied, name)
		case r.Outcome == cluster.NotReached:
			decision = notReached
			fallthrough
		default:
			reasons = append(reasons, name+": "+r.Reason)
		}
	}
	if len(applied) > 0 {
		return Allowed, strings.Join(applied, "; ")
	}
	if len(inScope) == 0 {
		return NoMatch, "the manifests have no such policy with such a binding"
	}
	return decision, strings.Join(reasons, "; ")
}

func statusMessage(review *cluster.Review) string {
	if review.Status == nil {
		return ""
	}
	return review.Status.ErrStatus.Message
}
