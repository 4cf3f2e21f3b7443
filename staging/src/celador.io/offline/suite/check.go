// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package suite

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"celador.io/offline/cluster"
	"celador.io/offline/manifest"
)

// A checker compares the response to the request of a case with what the case expects, and collects
// the mismatches.
type checker struct {
	document   *manifest.Document
	objects    []object // the manifests of the case
	path       string   // the field of the expectation
	mismatches []Mismatch
	// differences holds whole objects, the expected and the actual one, for mismatches of the
	// fields object and patch.
	differences []Difference
}

func (c *checker) fail(field, want, got string) {
	c.mismatches = append(c.mismatches, Mismatch{Field: field, Position: c.document.Position(c.path + "." + field), Want: want, Got: got})
}

// check compares the response with the expectation of a case, except for the patch and the type
// warnings, which need more than the response. It returns what the policies decided.
func (c *checker) check(test *testCase, response *cluster.Response) Conclusion {
	expect := &test.spec.Expect
	inScope := filter(response.Policies, expect.Policy, expect.Binding)
	decision, why := decide(response, inScope)
	explain := func() {
		c.explain(slices.DeleteFunc(Violations(inScope), func(f Violation) bool { return !f.Enforced || f.Failed != (decision == Error) }))
	}
	switch {
	case expect.Decision != "" && decision != expect.Decision:
		c.fail("decision", string(expect.Decision), described(decision, why))
		explain()
	case expect.Violations != nil:
		c.checkViolations(test, Violations(inScope))
	case expect.Decision != "":
		c.checkViolation(test, response, Violations(inScope))
	}
	if expect.Allowed != nil && *expect.Allowed != response.Allowed {
		c.fail("allowed", toJSON(*expect.Allowed), toJSON(response.Allowed)+": "+described(decision, why))
		explain()
	}
	if expect.Causes != nil {
		c.checkCauses(expect.Causes, response)
	}
	if expect.Warnings != nil && !slices.Equal(expect.Warnings, response.Warnings) {
		c.fail("warnings", quoted(expect.Warnings), quoted(response.Warnings))
	}
	if expect.Webhooks != nil {
		c.checkWebhooks(expect.Webhooks, response.Webhooks)
	}
	for key, want := range sorted(expect.AuditAnnotations) {
		if got, found := response.AuditAnnotations[key]; !found {
			c.fail("auditAnnotations["+key+"]", fmt.Sprintf("%q", want), "no such annotation, among "+quoted(keys(response.AuditAnnotations)))
		} else if got != want {
			c.fail("auditAnnotations["+key+"]", fmt.Sprintf("%q", want), fmt.Sprintf("%q", got))
		}
	}
	switch {
	case expect.Decision != "" && decision != expect.Decision, expect.Allowed != nil && !response.Allowed:
	case test.expected != nil && response.Object != nil:
		c.checkObject(test.expected.Object, response.Object.Object)
	case test.expected != nil:
		c.fail("object", toJSON(test.expected.Object), noObject(response))
	}
	return decision
}

// noObject returns the reason in words why a response has no object that could be compared.
func noObject(response *cluster.Response) string {
	if !response.Allowed {
		return "no object: the server rejects the request: " + statusMessage(response)
	}
	return "no object: the server answers this request with a status"
}

// explain adds the expressions of the violated validations in found to the last mismatch, so that
// reports can show which expressions led to the decision.
func (c *checker) explain(found []Violation) {
	last := &c.mismatches[len(c.mismatches)-1]
	for _, f := range found {
		for _, o := range named(c.objects, cluster.ValidatingKind, "", f.Policy) {
			validations, _, _ := unstructured.NestedSlice(o.content.Object, "spec", "validations")
			if f.Validation < 0 || f.Validation >= len(validations) {
				continue
			}
			validation, _ := validations[f.Validation].(map[string]any)
			text, _ := validation["expression"].(string)
			position := o.document.Position(fmt.Sprintf("spec.validations[%d].expression", f.Validation))
			last.Expressions = append(last.Expressions, Expression{Position: position, Text: text})
		}
	}
}

func described[Text ~string](value Text, why string) string {
	if why == "" {
		return string(value)
	}
	return string(value) + " (" + why + ")"
}

// checkViolation compares the violations with the fields validation, message, messagePattern and
// reason of the expectation. The case passes if one of the violations matches all the fields that
// are set.
func (c *checker) checkViolation(test *testCase, response *cluster.Response, found []Violation) {
	expect := &test.spec.Expect
	candidates := []Violation{}
	for _, f := range found {
		if f.Enforced == (expect.Decision != Allowed) && (!f.Enforced || f.Failed == (expect.Decision == Error)) {
			candidates = append(candidates, f)
		}
	}
	if expect.Decision == Rejected {
		candidates = []Violation{{Message: statusMessage(response), Validation: -1}}
		if response.Status != nil {
			candidates[0].Reason = response.Status.ErrStatus.Reason
		}
	}
	// Each field narrows down the violations that may be the expected one. The first field that
	// none of them matches is the mismatch.
	for _, criterion := range test.criteria() {
		met := slices.DeleteFunc(slices.Clone(candidates), func(f Violation) bool { return !criterion.meets(f) })
		if len(met) == 0 {
			var got []string
			for _, f := range candidates {
				got = append(got, criterion.display(f))
			}
			if len(got) == 0 {
				got = []string{"no validation is violated"}
			}
			c.fail(criterion.field, criterion.want, strings.Join(got, ", "))
			c.explain(candidates)
			return
		}
		candidates = met
	}
}

// checkViolations compares the number of violations with the field violations of the expectation.
// It counts those that match the other fields that describe a violation. If the case expects a
// denial, it does not count validations that could not be evaluated.
func (c *checker) checkViolations(test *testCase, found []Violation) {
	criteria := test.criteria()
	denial := test.spec.Expect.Decision == Denied
	met := slices.DeleteFunc(found, func(f Violation) bool {
		return f.Ignored || f.Failed && denial || slices.ContainsFunc(criteria, func(criterion criterion) bool { return !criterion.meets(f) })
	})
	if want := *test.spec.Expect.Violations; len(met) != want {
		var texts []string
		for _, f := range met {
			texts = append(texts, f.String())
		}
		c.fail("violations", toJSON(want), described(toJSON(len(met)), strings.Join(texts, "; ")))
		c.explain(met)
	}
}

// A criterion is a field of an expectation that selects violations, such as message.
type criterion struct {
	field   string
	set     bool
	want    string
	meets   func(Violation) bool
	display func(Violation) string
}

// criteria returns the criteria that the expectation of the case sets.
func (test *testCase) criteria() []criterion {
	expect := &test.spec.Expect
	criteria := []criterion{
		{
			"validation", expect.Validation != nil, toJSON(expect.Validation),
			func(f Violation) bool { return f.Validation == *expect.Validation },
			func(f Violation) string {
				if f.Validation < 0 {
					return "none (" + f.Message + ")"
				}
				return fmt.Sprintf("%d (%s)", f.Validation, f.Message)
			},
		},
		{
			"message", expect.Message != "", fmt.Sprintf("%q", expect.Message),
			func(f Violation) bool { return f.Message == expect.Message },
			func(f Violation) string { return fmt.Sprintf("%q", f.Message) },
		},
		{
			"messagePattern", test.pattern != nil, fmt.Sprintf("%q", expect.MessagePattern),
			func(f Violation) bool { return test.pattern.MatchString(f.Message) },
			func(f Violation) string { return fmt.Sprintf("%q", f.Message) },
		},
		{
			"reason", expect.Reason != "", string(expect.Reason),
			func(f Violation) bool { return f.Reason == expect.Reason },
			func(f Violation) string { return string(f.Reason) },
		},
	}
	return slices.DeleteFunc(criteria, func(c criterion) bool { return !c.set })
}
