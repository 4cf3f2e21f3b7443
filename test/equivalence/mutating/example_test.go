// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package mutating

import (
	"strings"
	"testing"

	v1 "celador.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// example is a scenario and the expected outcome of one request.
type example struct {
	spec spec
	// bindings are by default one binding that matches everything.
	bindings []*v1.MutatingAdmissionPolicyBinding
	// others are additional policies.
	others []*v1.MutatingAdmissionPolicy
	params []*unstructured.Unstructured
	// on names a request, by default "create".
	on string
	// want are substrings that the JSON of the resulting object must contain, and without are
	// substrings that it must not contain. If both are empty, the object must not change.
	want, without []string
	// fails is the error as brief returns it. The object may change nevertheless.
	fails string
}

func (e example) scenario() scenario {
	s := scenario{
		Policies: append([]*v1.MutatingAdmissionPolicy{policyOf(usualPolicy, e.spec)}, e.others...),
		Bindings: e.bindings,
		Params:   e.params,
	}
	if s.Bindings == nil {
		s.Bindings = append(s.Bindings, bindingOf(usualBinding, usualPolicy))
	}
	return s
}

// topics returns the examples by topic and name.
func topics() map[string]map[string]example {
	return map[string]map[string]example{
		"JSON patches":         jsonPatches(),
		"apply configurations": applyConfigurations(),
		"evaluations":          evaluations(),
		"conditions":           conditions(),
		"constraints":          constraints(),
		"params":               params(),
		"reinvocation":         reinvocations(),
		"identity":             identities(),
	}
}

// TestExamples checks the outcome of each example, and that both plugins agree on all fixed
// requests.
func TestExamples(t *testing.T) {
	examples, outcomes, changed, refused := 0, 0, 0, 0
	for topic, cases := range topics() {
		for name, e := range cases {
			t.Run(topic+"/"+name, func(t *testing.T) {
				if e.on == "" {
					e.on = "create"
				}
				r, exists := fixed[e.on]
				if !exists {
					t.Fatalf("there is no request %q", e.on)
				}
				got := compareIn(t, e.scenario(), fixed)
				if got.Unexplained != nil {
					t.Error(got)
				}
				// Kubernetes' plugin has the same outcome, so this checks both.
				e.check(t, r, got.outcomes[e.on].last())
				examples++
				for name, o := range got.outcomes {
					outcomes++
					refused += min(1, len(o.last().Error))
					if o.last().Object != encode(t, fixed[name], fixed[name].Object) {
						changed++
					}
				}
			})
		}
	}
	t.Logf("%d examples with %d outcomes: %d changed objects, %d refusals", examples, outcomes, changed, refused)
}

func (e example) check(t *testing.T, r request, got round) {
	t.Helper()
	if got.brief() != e.fails {
		t.Errorf("%s: got error\n%s\nwant\n%s", e.on, got.brief(), e.fails)
	}
	for _, part := range e.want {
		if !strings.Contains(got.Object, part) {
			t.Errorf("%s: there is no %s in\n%s", e.on, part, got.Object)
		}
	}
	for _, part := range e.without {
		if strings.Contains(got.Object, part) {
			t.Errorf("%s: there is %s in\n%s", e.on, part, got.Object)
		}
	}
	if before := encode(t, r, r.Object); e.want == nil && e.without == nil && got.Object != before {
		t.Errorf("%s: the object has changed from\n%s\nto\n%s", e.on, before, got.Object)
	}
}
