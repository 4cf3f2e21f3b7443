// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package playground

import (
	"errors"
	"slices"
	"strings"

	admissionv1 "celador.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"celador.io/offline/cluster"
	"celador.io/offline/coverage"
	"celador.io/offline/manifest"
	"celador.io/offline/report"
	"celador.io/offline/suite"
)

// An Answer is what the page shows of an evaluation.
type Answer struct {
	// Decision is empty if there is no request or the input is not usable. Reason says in words why
	// the policies decide so.
	Decision suite.Conclusion `json:"decision"`
	Reason   string           `json:"reason,omitempty"`
	// Allowed reports whether the server performs the request.
	Allowed bool `json:"allowed"`
	// Status is the error of the server, if it rejects the request.
	Status           *Status           `json:"status,omitempty"`
	Warnings         []string          `json:"warnings,omitempty"`
	AuditAnnotations map[string]string `json:"auditAnnotations,omitempty"`
	// Object is the YAML of the object after admission, and Diff the unified diff of the changes by
	// policies. Both leave out what a server chooses anew for each request, such as the UID.
	Object string `json:"object,omitempty"`
	Diff   string `json:"diff,omitempty"`
	// Policies has an entry for each policy and binding.
	Policies     []PolicyResult          `json:"policies,omitempty"`
	Webhooks     []cluster.WebhookRecord `json:"webhooks,omitempty"`
	Expressions  []Expression            `json:"expressions,omitempty"`
	TypeWarnings []TypeWarning           `json:"typeWarnings,omitempty"`
	// Problems are the reasons why the input is not usable.
	Problems []Problem `json:"problems,omitempty"`
	// Omitted has, for each list of which the answer has only the first entries, the number of the
	// other entries. Its keys are the names of the lists in JSON.
	Omitted map[string]int `json:"omitted,omitempty"`
}

// A Status is the error of a server.
type Status struct {
	Code    int32               `json:"code"`
	Reason  metav1.StatusReason `json:"reason"`
	Message string              `json:"message"`
}

// Effects of policies whose violations do not reject the request. They appear in place of
// cluster.Denied and cluster.Failed.
const (
	// Warned means that the client gets a warning.
	Warned cluster.Effect = "Warned"
	// Audited means that the violation appears only in the audit event.
	Audited cluster.Effect = "Audited"
	// Ignored means that the policy could not be evaluated, and that its failurePolicy is Ignore.
	Ignored cluster.Effect = "Ignored"
)

// A PolicyResult is what a policy did, through one binding. Its Effect is Denied or Failed only if
// the server rejects the request because of the policy.
type PolicyResult struct {
	report.PolicyResult
	Violations []suite.Violation `json:"violations,omitempty"`
}

// A Place is a field in a pane of the page. Lines count from 1; a place without a line is the whole
// pane.
type Place struct {
	Pane  string `json:"pane"`
	Line  int    `json:"line,omitempty"`
	Field string `json:"field,omitempty"`
}

// An Expression is an expression with its evaluations.
type Expression struct {
	// Kind and Policy are the kind and name of the object: a policy, a webhook configuration or a
	// CustomResourceDefinition.
	Kind   string `json:"kind"`
	Policy string `json:"policy"`
	Place
	// Text is the expression, in one line.
	Text        string                      `json:"text"`
	Evaluations []suite.ExplainedEvaluation `json:"evaluations,omitempty"`
	// Omitted is the number of further evaluations.
	Omitted int `json:"omitted,omitempty"`
	coverage.Summary
	// Missing says what would reach the branches that no evaluation reached.
	Missing []string `json:"missing,omitempty"`
}

// A TypeWarning is a warning of the type check of a policy.
type TypeWarning struct {
	Kind   string `json:"kind"`
	Policy string `json:"policy"`
	Place
	Warning string `json:"warning"`
}

// A Problem is a reason why an input is not usable.
type Problem struct {
	Place
	Message string `json:"message"`
}

// newAnswer returns the answer for the result of suite.Explain.
func newAnswer(found *suite.ExplainedResponse, err error) *Answer {
	a := &Answer{Problems: problems(err)}
	defer a.bound()
	if found == nil {
		return a
	}
	for _, w := range found.TypeWarnings {
		a.TypeWarnings = append(a.TypeWarnings, TypeWarning{w.Kind, w.Policy, newPlace(w.Position, w.Field), w.Text})
	}
	for i := range found.Expressions {
		a.Expressions = append(a.Expressions, newExpression(&found.Expressions[i]))
	}
	if found.Response != nil && err == nil {
		a.addResponse(found)
	}
	return a
}

func (a *Answer) addResponse(found *suite.ExplainedResponse) {
	response := found.Response
	a.Decision, a.Reason, a.Allowed = found.Decision, found.Reason, response.Allowed
	a.Warnings, a.AuditAnnotations, a.Webhooks = response.Warnings, response.AuditAnnotations, response.Webhooks
	if response.Status != nil {
		s := response.Status.ErrStatus
		a.Status = &Status{s.Code, s.Reason, s.Message}
	}
	for _, p := range response.Policies {
		violations := suite.Violations([]cluster.PolicyRecord{p})
		a.Policies = append(a.Policies, PolicyResult{report.PolicyResult{
			Kind: p.Kind, Policy: p.Policy, Binding: p.Binding, Effect: effectFor(p.Effect, violations), Reason: p.Reason,
		}, violations})
	}
	if response.Object == nil {
		return
	}
	after := suite.Normalize(response.Object)
	text, err := yaml.Marshal(after)
	if err != nil {
		a.Problems = append(a.Problems, problems(err)...)
		return
	}
	a.Object = string(text)
	if found.ObjectWithoutPolicies != nil {
		a.Diff = report.Diff("without policies", "with policies", suite.Normalize(found.ObjectWithoutPolicies), after)
	}
}

// effectFor returns the effect of a policy on the request. If the policy denies or fails, but the
// server enforces none of its violations, the effect is Warned if there is a violation with a
// warning, otherwise Audited if there is one that is not ignored, and otherwise Ignored.
func effectFor(of cluster.Effect, violations []suite.Violation) cluster.Effect {
	if len(violations) == 0 || of != cluster.Denied && of != cluster.Failed {
		return of
	}
	weaker := Ignored
	for _, v := range violations {
		switch {
		case v.Enforced:
			return of
		case v.Ignored:
		case slices.Contains(v.Actions, admissionv1.Warn):
			weaker = Warned
		case weaker == Ignored:
			weaker = Audited
		}
	}
	return weaker
}

func newExpression(e *suite.EvaluatedExpression) Expression {
	out := Expression{
		Kind: e.Kind, Policy: e.Name, Place: newPlace(e.Position, e.Field), Text: e.Text, Evaluations: e.Evaluations, Omitted: e.Omitted, Summary: e.Summary(),
	}
	for _, b := range e.Branches {
		if !b.Covered {
			out.Missing = append(out.Missing, b.Missing)
		}
	}
	return out
}

// newPlace returns the place of a position, whose file is the name of a pane.
func newPlace(p manifest.Position, field string) Place {
	return Place{Pane: p.File, Line: p.Line, Field: field}
}

// maxEntriesShown is the number of entries of each list in an answer, and maxReason the length of
// Reason in bytes. With thousands of entries, or a reason that names thousands of policies, the
// page would not respond.
const maxEntriesShown, maxReason = 500, 2000

// bound shortens the reason and the lists, and counts what it omits.
func (a *Answer) bound() {
	if len(a.Reason) > maxReason {
		a.Reason = strings.ToValidUTF8(a.Reason[:maxReason], "") + " …"
	}
	omitted := map[string]int{}
	omit(omitted, "warnings", &a.Warnings)
	omit(omitted, "policies", &a.Policies)
	omit(omitted, "webhooks", &a.Webhooks)
	omit(omitted, "expressions", &a.Expressions)
	omit(omitted, "typeWarnings", &a.TypeWarnings)
	omit(omitted, "problems", &a.Problems)
	if len(omitted) > 0 {
		a.Omitted = omitted
	}
}

// omit shortens the named list to its first entries, and records the number of the others in
// omitted.
func omit[T any](omitted map[string]int, name string, list *[]T) {
	if more := len(*list) - maxEntriesShown; more > 0 {
		*list, omitted[name] = (*list)[:maxEntriesShown], more
	}
}

// problems returns a Problem for each error that err joins.
func problems(err error) []Problem {
	var all []Problem
	for _, err := range manifest.Errors(err) {
		p := Problem{Message: err.Error()}
		var located *manifest.Error
		var gates *gateError
		switch {
		case errors.As(err, &located):
			p = Problem{newPlace(located.Position, located.Field), located.Problem}
		case errors.As(err, &gates):
			p.Pane = "featureGates"
		}
		all = append(all, p)
	}
	return all
}
