// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package mutating

import (
	"strings"
	"testing"

	v1 "celador.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Most examples are about one policy with one binding.
const (
	usualPolicy  = "policy.example.com"
	usualBinding = "binding.example.com"
)

// example is a situation that policy authors get into, willingly or not, and what becomes
// of one request in it.
type example struct {
	spec spec
	// bindings are by default one, for everything.
	bindings []*v1.MutatingAdmissionPolicyBinding
	// others are further policies.
	others []*v1.MutatingAdmissionPolicy
	params []*unstructured.Unstructured
	// on names a request, by default "create".
	on string
	// want are parts of the object that comes of that request, in JSON, and without those
	// that it must not have any more. Without either, the object stays as it was.
	want, without []string
	// fails is the error in brief. The object may be changed nevertheless.
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

// topics are all examples.
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

// Each example does what it says, in both plugins, and all other requests have the same
// outcome in both, too.
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
				if got.unexplained != nil {
					t.Error(got)
				}
				// Upstream agrees, so this says that both are right.
				e.check(t, r, got.outcomes[e.on].last())
				examples++
				for name, o := range got.outcomes {
					outcomes++
					refused += min(1, len(o.last().Error))
					if o.last().Object != encode(t, fixed[name], fixed[name].object) {
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
	if before := encode(t, r, r.object); e.want == nil && e.without == nil && got.Object != before {
		t.Errorf("%s: the object has changed from\n%s\nto\n%s", e.on, before, got.Object)
	}
}
