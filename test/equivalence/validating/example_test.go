// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package validating

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	v1 "celador.io/api/admissionregistration/v1"
	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// example is a scenario and the expected outcome of one request.
type example struct {
	spec v1.ValidatingAdmissionPolicySpec
	// bindings are by default one binding with action Deny.
	bindings []*v1.ValidatingAdmissionPolicyBinding
	// others are additional policies.
	others []*v1.ValidatingAdmissionPolicy
	params []*unstructured.Unstructured
	// on names a request, by default "create".
	on string
	// want is the outcome of that request as brief returns it. An empty outcome admits the
	// request.
	want []string
	// compared examples only require that both plugins agree.
	compared bool
}

func (e example) scenario() scenario {
	s := scenario{
		Policies: append([]*v1.ValidatingAdmissionPolicy{policyOf(usualPolicy, e.spec)}, e.others...),
		Bindings: e.bindings,
		Params:   e.params,
	}
	if s.Bindings == nil {
		s.Bindings = append(s.Bindings, bindingOf(usualBinding, usualPolicy, v1.Deny))
	}
	return s
}

// topics returns the examples by topic and name.
func topics() map[string]map[string]example {
	return map[string]map[string]example{
		"validations":  validations(),
		"messages":     messages(),
		"conditions":   conditions(),
		"variables":    variables(),
		"annotations":  annotations(),
		"actions":      actions(),
		"bindings":     bindings(),
		"authorizer":   authorizers(),
		"operations":   operations(),
		"constraints":  constraints(),
		"versions":     versions(),
		"inputs":       inputs(),
		"libraries":    libraries(),
		"costs":        costs(),
		"params":       params(),
		"param errors": paramErrors(),
	}
}

// TestExamples checks the outcome of each example, and that both plugins agree on all fixed
// requests.
func TestExamples(t *testing.T) {
	examples, outcomes, denials, warnings, notes := 0, 0, 0, 0, 0
	for topic, cases := range topics() {
		for name, e := range cases {
			t.Run(topic+"/"+name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					if e.on == "" {
						e.on = "create"
					}
					if _, exists := fixed[e.on]; !exists {
						t.Fatalf("there is no request %q", e.on)
					}
					s := e.scenario()
					got := start(t, s).compare(t, fixed, s.ordered())
					if got.Unexplained != nil {
						t.Error(got)
					}
					// Kubernetes' plugin has the same outcome, so this checks both.
					if diff := cmp.Diff(e.want, got.celador[e.on].brief()); diff != "" && !e.compared {
						t.Errorf("%s (-want +got):\n%s", e.on, diff)
					}
					examples++
					for _, outcome := range got.celador {
						outcomes++
						denials += min(1, len(outcome.Error))
						warnings += len(outcome.Warnings)
						notes += len(outcome.Annotations)
					}
				})
			})
		}
	}
	t.Logf("%d examples with %d outcomes: %d denials, %d warnings, %d audit annotations", examples, outcomes, denials, warnings, notes)
}

// Expressions of several examples.
const (
	few       = "object.spec.replicas <= 5"
	failing   = "object.spec.missing.field == 1"
	invalid   = "object.spec.replicas <"
	wrongType = "object.spec.replicas"
)

// Outcomes of these expressions.
const (
	fewDenied     = "denied: failed expression: " + few
	neverDenied   = "denied: failed expression: false"
	failingFailed = "denied: expression '" + failing + "' resulted in error: no such key: missing"
	invalidFailed = "denied: compilation error: compilation failed: ERROR: <input>:1:23: Syntax error: mismatched input '<EOF>' expecting {'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}\n | object.spec.replicas <\n | ......................^"
	notABool      = "denied: compilation error: must evaluate to bool but got dyn"
)

var never = v1.ValidatingAdmissionPolicySpec{Validations: validating("false")}

func validating(expressions ...string) []v1.Validation {
	var result []v1.Validation
	for _, expression := range expressions {
		result = append(result, v1.Validation{Expression: expression})
	}
	return result
}

func note(expressions ...string) []v1.AuditAnnotation {
	var result []v1.AuditAnnotation
	for i, expression := range expressions {
		result = append(result, v1.AuditAnnotation{Key: fmt.Sprint("key", i), ValueExpression: expression})
	}
	return result
}

// ignoring returns a copy of a spec with failurePolicy Ignore.
func ignoring(spec v1.ValidatingAdmissionPolicySpec) v1.ValidatingAdmissionPolicySpec {
	spec.FailurePolicy = new(v1.Ignore)
	return spec
}

func repeat(text string, times int) string { return strings.Repeat(text, times) }
