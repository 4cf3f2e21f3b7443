// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package validating_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"celador.io/admission/policytest"

	v1 "celador.io/api/admissionregistration/v1"
	"k8s.io/klog/v2"
	"k8s.io/klog/v2/ktesting"

	"celador.io/admission/policyspec"
	"celador.io/admission/validating"
)

// At verbosity 5, the log contains the reason for which a policy does not apply to a request.
func TestReasonsInLog(t *testing.T) {
	conditional := denyingWith("p", "no")
	conditional.Spec.MatchConditions = []v1.MatchCondition{{Name: "yes", Expression: "true"}, {Name: "rare", Expression: "false"}}
	otherResource := denyingWith("p", "no")
	otherResource.Spec.MatchConstraints = policytest.Match(v1.Equivalent, ruleFor(pods))
	for name, test := range map[string]struct {
		objects []any
		want    []string
	}{
		"applies":          {[]any{denyingWith("p", "no"), policytest.Binding("b", "p")}, nil},
		"other resource":   {[]any{otherResource, policytest.Binding("b", "p")}, []string{`Policy does not match policy="p" because="no resourceRules match"`}},
		"other namespaces": {[]any{denyingWith("p", "no"), narrowed("b", "p", inNamespaces("red"))}, []string{`Binding does not apply policy="p" binding="b" because="namespaceSelector does not match"`}},
		"false condition":  {[]any{conditional, policytest.Binding("b", "p")}, []string{`Policy does not match policy="p" because="a match condition is false" matchCondition="rare"`}},
		"no params": {[]any{limiting(limits), withParams(policytest.Binding("b", "p"), allowing(named("", "none")))},
			[]string{`Binding does not apply policy="p" binding="b" because="there are no params"`}},
		"fallback": {[]any{denyingWith("p", "no"), policytest.Binding("b", "p"), fallback(policytest.Binding("a", "p"))},
			[]string{`Binding does not apply policy="p" binding="a" because="it is a fallback and another binding applies"`}},
	} {
		t.Run(name, func(t *testing.T) {
			for _, verbosity := range []int{4, 5} {
				logger := ktesting.NewLogger(t, ktesting.NewConfig(ktesting.Verbosity(verbosity), ktesting.BufferLogs(true)))
				s := newServer()
				snapshot := storeWith(policyspec.Features{policyspec.FallbackBinding: true}, newObjects(), test.objects...).Snapshot()
				if _, err := validating.NewEngine(validating.Config{Namespaces: s, Authorizer: s}).Evaluate(klog.NewContext(t.Context(), logger), create(5), s, snapshot); err != nil {
					t.Fatal(err)
				}
				var got []string
				for _, entry := range logger.GetSink().(ktesting.Underlier).GetBuffer().Data() {
					got = append(got, entry.Message+pairs(entry.ParameterKVList))
				}
				want := test.want
				if verbosity < 5 {
					want = nil
				}
				if !slices.Equal(got, want) {
					t.Errorf("at verbosity %d, log is %q, want %q", verbosity, got, want)
				}
			}
		})
	}
}

func pairs(keysAndValues []any) string {
	var result strings.Builder
	for i := 0; i+1 < len(keysAndValues); i += 2 {
		fmt.Fprintf(&result, " %v=%q", keysAndValues[i], keysAndValues[i+1])
	}
	return result.String()
}
