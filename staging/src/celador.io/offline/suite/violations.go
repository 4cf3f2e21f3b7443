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

// A Violation is a reason of a policy to deny or reject a request, whether or not its binding
// enforces it: a validation that is not satisfied, a mutation that refuses the request, or a part
// of the policy that cannot be evaluated.
type Violation struct {
	Policy  string `json:"-"`
	Binding string `json:"-"`
	// Validation is the index of the validation, or -1 if the violation does not come from a
	// validation.
	Validation int                 `json:"validation"`
	Message    string              `json:"message"`
	Reason     metav1.StatusReason `json:"reason,omitempty"`
	// Field is the field that the cause of the violation names. It is empty if the policy names
	// none.
	Field string `json:"field,omitempty"`
	// Actions are the binding's validationActions. Mutating policies have none.
	Actions []admissionv1.ValidationAction `json:"actions,omitempty"`
	// Failed is set if the policy could not be evaluated. It is not set if the policy denies the
	// request.
	Failed bool `json:"failed,omitempty"`
	// Ignored is set if the policy could not be evaluated, and its failurePolicy is Ignore.
	Ignored bool `json:"ignored,omitempty"`
	// Enforced is set if the server rejects the request because of the violation.
	Enforced bool `json:"-"`
}

func (f Violation) String() string {
	text := "policy " + f.Policy
	if f.Binding != "" {
		text += ", binding " + f.Binding
	}
	if f.Validation >= 0 {
		text += fmt.Sprintf(", validation %d", f.Validation)
	}
	return text + ": " + f.Message
}

// Violations returns the violations of policies, in the order of the records.
func Violations(records []cluster.PolicyRecord) []Violation {
	var found []Violation
	for _, record := range records {
		for _, decision := range record.Decisions {
			if decision.Outcome == validating.Admitted {
				continue
			}
			f := Violation{
				Policy: record.Policy, Binding: record.Binding, Validation: decision.Index,
				Message: decision.Message, Reason: decision.Reason, Field: decision.Field, Actions: decision.Actions,
				Failed:   decision.Outcome != validating.Denied,
				Ignored:  decision.Ignored,
				Enforced: !decision.Ignored && slices.Contains(decision.Actions, admissionv1.Deny),
			}
			found = append(found, f)
		}
		for _, failure := range record.Failures {
			found = append(found, Violation{
				Policy: record.Policy, Binding: record.Binding, Validation: -1,
				Message: failure.Message, Reason: failure.Reason,
				Failed: !failure.Refused, Ignored: failure.Ignored, Enforced: !failure.Ignored,
			})
		}
	}
	return found
}

// filter returns the records of the policy and the binding that an expectation names. An empty name
// stands for all policies or bindings. policy may begin with a kind.
func filter(records []cluster.PolicyRecord, policy, binding string) []cluster.PolicyRecord {
	kind, name := cutKind(policy)
	var kept []cluster.PolicyRecord
	for _, record := range records {
		if (name == "" || record.Policy == name) && (kind == "" || record.Kind == kind) && (binding == "" || record.Binding == binding) {
			kept = append(kept, record)
		}
	}
	return kept
}

// notReached is the decision if the server rejected the request before the policy was evaluated. It
// is not among the conclusions that a suite can expect.
const notReached Conclusion = "NotReached"

// decide returns the decision of the policies and bindings that the expectation is about, and the
// reason in words. inScope holds their records, which are some of those in the response.
func decide(response *cluster.Response, inScope []cluster.PolicyRecord) (decision Conclusion, why string) {
	enforced := func(f Violation) bool { return f.Enforced }
	if !response.Allowed && !slices.ContainsFunc(Violations(response.Policies), enforced) {
		return Rejected, statusMessage(response)
	}
	for _, failed := range []bool{false, true} {
		var reasons []string
		for _, f := range Violations(inScope) {
			if f.Enforced && f.Failed == failed {
				reasons = append(reasons, f.String())
			}
		}
		if len(reasons) > 0 {
			return map[bool]Conclusion{false: Denied, true: Error}[failed], strings.Join(reasons, "; ")
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
		case r.Effect == cluster.NotReached:
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

func statusMessage(response *cluster.Response) string {
	if response.Status == nil {
		return ""
	}
	return response.Status.ErrStatus.Message
}
