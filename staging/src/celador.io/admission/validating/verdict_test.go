// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package validating_test

import (
	"errors"
	"slices"
	"testing"

	v1 "celador.io/api/admissionregistration/v1"

	"celador.io/admission/policyspec"
	"celador.io/admission/policytest"
	"celador.io/admission/validating"
)

// enforced returns a policy whose types are enforced.
func enforced(p *v1.ValidatingAdmissionPolicy) *v1.ValidatingAdmissionPolicy {
	p.UID, p.Spec.TypeChecking = "a", new(v1.EnforcedTypeChecking)
	return p
}

// The failurePolicy decides about requests that match a policy with type errors.
func TestWrongVerdictDecision(t *testing.T) {
	for _, failurePolicy := range []v1.FailurePolicyType{v1.Fail, v1.Ignore} {
		t.Run(string(failurePolicy), func(t *testing.T) {
			p := enforced(denyingWith("p", "no"))
			p.Spec.FailurePolicy = &failurePolicy
			s := storeWith(policyspec.Features{policyspec.TypeEnforcement: true}, nil, p, policytest.Binding("b", "p", v1.Warn), policytest.Binding("c", "p"))
			s.SetVerdict("p", "a", 1, errors.New("wrong"))
			wantDecisions(t, evaluate(t, newServer(), create(1), s.Snapshot()).Decisions(), []validating.Decision{{
				Policy: "p", Index: -1, Message: "failed to configure policy: wrong", Outcome: validating.Failed, Misconfigured: true,
				Actions: []v1.ValidationAction{v1.Deny}, Ignored: failurePolicy == v1.Ignore,
			}})
		})
	}
}

// Nothing checks the types of a snapshot that does not change.
func TestFixedPoliciesNeedNoVerdict(t *testing.T) {
	config := validating.Config{Features: policyspec.Features{policyspec.TypeEnforcement: true}}
	snapshot := fixed(t, config, enforced(denyingWith("p", "no")), policytest.Binding("b", "p"))
	if got := denials(t, snapshot); !slices.Equal(got, []string{"p/b: no"}) {
		t.Errorf("in effect: %q", got)
	}
}
