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

// A checker compares the answer to a case with its expectation.
type checker struct {
	document   *manifest.Document
	objects    []object // the manifests of the case
	path       string   // the field of the expectation
	mismatches []Mismatch
	// differences are the objects behind mismatches of object and patch.
	differences []Difference
}

func (c *checker) fail(field, want, got string) {
	c.mismatches = append(c.mismatches, Mismatch{Field: field, Position: c.document.Position(c.path + "." + field), Want: want, Got: got})
}

// check compares review with the expectation of a case, except for the patch. It returns the decision.
func (c *checker) check(test *testCase, review *cluster.Review) Decision {
	expect := &test.spec.Expect
	inScope := scope(review.Policies, expect.Policy, expect.Binding)
	decision, why := decide(review, inScope)
	explain := func() {
		c.explain(slices.DeleteFunc(findings(inScope), func(f finding) bool { return !f.enforced || f.failed != (decision == Error) }))
	}
	switch {
	case expect.Decision != "" && decision != expect.Decision:
		c.fail("decision", string(expect.Decision), described(decision, why))
		explain()
	case expect.Violations != nil:
		c.checkViolations(test, findings(inScope))
	case expect.Decision != "":
		c.checkFinding(test, review, findings(inScope))
	}
	if expect.Allowed != nil && *expect.Allowed != review.Allowed {
		c.fail("allowed", toJSON(*expect.Allowed), toJSON(review.Allowed)+": "+described(decision, why))
		explain()
	}
	if expect.Warnings != nil && !slices.Equal(expect.Warnings, review.Warnings) {
		c.fail("warnings", quoted(expect.Warnings), quoted(review.Warnings))
	}
	if expect.Webhooks != nil {
		c.checkWebhooks(expect.Webhooks, review.Webhooks)
	}
	for key, want := range sorted(expect.AuditAnnotations) {
		if got, found := review.AuditAnnotations[key]; !found {
			c.fail("auditAnnotations["+key+"]", fmt.Sprintf("%q", want), "no such annotation, among "+quoted(keys(review.AuditAnnotations)))
		} else if got != want {
			c.fail("auditAnnotations["+key+"]", fmt.Sprintf("%q", want), fmt.Sprintf("%q", got))
		}
	}
	switch {
	case expect.Decision != "" && decision != expect.Decision, expect.Allowed != nil && !review.Allowed:
	case test.expected != nil && review.Object != nil:
		c.checkObject(test.expected.Object, review.Object.Object)
	case test.expected != nil:
		c.fail("object", toJSON(test.expected.Object), noObject(review))
	}
	return decision
}

// noObject says why an answer has no object.
func noObject(review *cluster.Review) string {
	if !review.Allowed {
		return "no object: the server rejects the request: " + statusMessage(review)
	}
	return "no object: the server answers this request with a status"
}

// explain adds the expressions behind findings to the last mismatch.
func (c *checker) explain(found []finding) {
	last := &c.mismatches[len(c.mismatches)-1]
	for _, f := range found {
		for _, o := range c.objects {
			if f.validation < 0 || o.content.GetKind() != cluster.ValidatingKind || o.content.GetName() != f.policy {
				continue
			}
			validations, _, _ := unstructured.NestedSlice(o.content.Object, "spec", "validations")
			if f.validation >= len(validations) {
				continue
			}
			validation, _ := validations[f.validation].(map[string]any)
			text, _ := validation["expression"].(string)
			position := o.document.Position(fmt.Sprintf("spec.validations[%d].expression", f.validation))
			last.Expressions = append(last.Expressions, Expression{Position: position, Text: text})
		}
	}
}

func described(decision Decision, why string) string {
	if why == "" {
		return string(decision)
	}
	return string(decision) + " (" + why + ")"
}

// checkFinding compares validation, message and reason. One finding has to have all of them.
func (c *checker) checkFinding(test *testCase, review *cluster.Review, found []finding) {
	expect := &test.spec.Expect
	candidates := []finding{}
	for _, f := range found {
		if f.enforced == (expect.Decision != Allowed) && (!f.enforced || f.failed == (expect.Decision == Error)) {
			candidates = append(candidates, f)
		}
	}
	if expect.Decision == Rejected {
		candidates = []finding{{message: statusMessage(review), validation: -1}}
		if review.Status != nil {
			candidates[0].reason = review.Status.ErrStatus.Reason
		}
	}
	// Each field narrows the candidates down. The first one that no candidate has is the mismatch.
	for _, criterion := range test.criteria() {
		met := slices.DeleteFunc(slices.Clone(candidates), func(f finding) bool { return !criterion.meets(f) })
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

// checkViolations compares the number of violations that meet the criteria of the case.
func (c *checker) checkViolations(test *testCase, found []finding) {
	criteria := test.criteria()
	met := slices.DeleteFunc(found, func(f finding) bool {
		return f.ignored || slices.ContainsFunc(criteria, func(criterion criterion) bool { return !criterion.meets(f) })
	})
	if want := *test.spec.Expect.Violations; len(met) != want {
		var texts []string
		for _, f := range met {
			texts = append(texts, f.String())
		}
		c.fail("violations", toJSON(want), described(Decision(toJSON(len(met))), strings.Join(texts, "; ")))
		c.explain(met)
	}
}

// A criterion is a field of an expectation that describes a violation.
type criterion struct {
	field   string
	set     bool
	want    string
	meets   func(finding) bool
	display func(finding) string
}

// criteria returns the criteria that the expectation of the case sets.
func (test *testCase) criteria() []criterion {
	expect := &test.spec.Expect
	criteria := []criterion{
		{
			"validation", expect.Validation != nil, toJSON(expect.Validation),
			func(f finding) bool { return f.validation == *expect.Validation },
			func(f finding) string {
				if f.validation < 0 {
					return "none (" + f.message + ")"
				}
				return fmt.Sprintf("%d (%s)", f.validation, f.message)
			},
		},
		{
			"message", expect.Message != "", fmt.Sprintf("%q", expect.Message),
			func(f finding) bool { return f.message == expect.Message },
			func(f finding) string { return fmt.Sprintf("%q", f.message) },
		},
		{
			"messagePattern", test.pattern != nil, fmt.Sprintf("%q", expect.MessagePattern),
			func(f finding) bool { return test.pattern.MatchString(f.message) },
			func(f finding) string { return fmt.Sprintf("%q", f.message) },
		},
		{
			"reason", expect.Reason != "", string(expect.Reason),
			func(f finding) bool { return f.reason == expect.Reason },
			func(f finding) string { return string(f.reason) },
		},
	}
	return slices.DeleteFunc(criteria, func(c criterion) bool { return !c.set })
}
