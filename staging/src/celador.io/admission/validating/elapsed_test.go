// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package validating_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apiserver/pkg/authorization/authorizer"

	"celador.io/admission/policytest"
	v1 "celador.io/api/admissionregistration/v1"

	"celador.io/admission/validating"
)

// slowServer takes a second for each question to the authorizer.
type slowServer struct{ *server }

func (s slowServer) Authorize(ctx context.Context, a authorizer.Attributes) (authorizer.Decision, string, error) {
	time.Sleep(time.Second)
	return s.server.Authorize(ctx, a)
}

// The time of a decision is that of the validations of its policy. The policy "a" comes first and
// is satisfied.
func TestElapsed(t *testing.T) {
	asks := func(verb string) string { return "authorizer.requestResource.check('" + verb + "').allowed() || true" }
	refuses := func(verb string) string { return "authorizer.requestResource.check('" + verb + "').allowed() && false" }
	for name, test := range map[string]struct {
		a, b v1.ValidatingAdmissionPolicySpec
		want []time.Duration
	}{
		"nothing takes long": {
			a:    v1.ValidatingAdmissionPolicySpec{Validations: policytest.Validations("true")},
			b:    v1.ValidatingAdmissionPolicySpec{Validations: policytest.Validations("false")},
			want: []time.Duration{0},
		},
		"a validation before in the same policy": {
			a:    v1.ValidatingAdmissionPolicySpec{Validations: policytest.Validations("true")},
			b:    v1.ValidatingAdmissionPolicySpec{Validations: policytest.Validations("false", asks("b"), "false")},
			want: []time.Duration{0, time.Second},
		},
		"the validation": {
			a:    v1.ValidatingAdmissionPolicySpec{Validations: policytest.Validations("true")},
			b:    v1.ValidatingAdmissionPolicySpec{Validations: policytest.Validations(refuses("read"), "false")},
			want: []time.Duration{time.Second, 0},
		},
		"a validation of another policy": {
			a:    v1.ValidatingAdmissionPolicySpec{Validations: policytest.Validations(asks("a"))},
			b:    v1.ValidatingAdmissionPolicySpec{Validations: policytest.Validations("false")},
			want: []time.Duration{0},
		},
		"match conditions": {
			a:    v1.ValidatingAdmissionPolicySpec{Validations: policytest.Validations("true")},
			b:    v1.ValidatingAdmissionPolicySpec{MatchConditions: []v1.MatchCondition{{Name: "c", Expression: asks("b")}}, Validations: policytest.Validations("false")},
			want: []time.Duration{0},
		},
		"audit annotations of another policy": {
			a:    v1.ValidatingAdmissionPolicySpec{Validations: policytest.Validations("true"), AuditAnnotations: []v1.AuditAnnotation{{Key: "k", ValueExpression: asks("a") + " ? 'x' : 'y'"}}},
			b:    v1.ValidatingAdmissionPolicySpec{Validations: policytest.Validations("false")},
			want: []time.Duration{0},
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := slowServer{newServer()}
				engine := validating.NewEngine(validating.Config{Namespaces: s, Authorizer: s})
				snapshot, err := engine.NewSnapshot(policytest.Validating("a", test.a), policytest.Binding("a", "a"), policytest.Validating("b", test.b), policytest.Binding("b", "b"))
				if err != nil {
					t.Fatal(err)
				}
				result, err := engine.Evaluate(t.Context(), create(1), s, snapshot)
				if err != nil {
					t.Fatal(err)
				}
				var got []time.Duration
				for _, d := range result.Violations {
					got = append(got, d.Elapsed)
				}
				if diff := cmp.Diff(test.want, got); diff != "" {
					t.Errorf("times of the violations of b (-want +got):\n%s", diff)
				}
			})
		})
	}
}
