// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package validating_test

import (
	"slices"
	"strings"
	"testing"

	"celador.io/admission/policy"
	"celador.io/admission/policytest"

	v1 "celador.io/api/admissionregistration/v1"
	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"celador.io/admission/validating"
)

const (
	few       = "object.spec.replicas <= 5"
	failing   = "object.spec.missing == 1"
	broken    = "object.spec.replicas <"
	noKey     = "expression 'object.spec.missing == 1' resulted in error: no such key: missing"
	notBool   = "compilation error: must evaluate to bool but got dyn"
	exhausted = "validation failed due to running out of cost budget, no further validation rules will be run"
)

// found returns the result of a policy with one binding for a deployment with nine replicas.
func found(t *testing.T, spec v1.ValidatingAdmissionPolicySpec) validating.Result {
	t.Helper()
	return evaluate(t, newServer(), create(9), store(policytest.Validating("p", spec), policytest.Binding("b", "p")).Snapshot())
}

// decision returns a decision of the policy that found evaluates.
func decision(index int, outcome validating.Outcome, message string) validating.Decision {
	return validating.Decision{Policy: "p", Binding: "b", Actions: []v1.ValidationAction{v1.Deny}, Index: index, Outcome: outcome, Message: message}
}

func admitted(index int) validating.Decision { return decision(index, validating.Admitted, "") }

func denied(index int, message string) validating.Decision {
	d := decision(index, validating.Denied, message)
	d.Reason = metav1.StatusReasonInvalid
	return d
}

func failed(index int, message string) validating.Decision {
	return decision(index, validating.Failed, message)
}

func ignored(d validating.Decision) validating.Decision {
	d.Ignored = true
	return d
}

func TestValidations(t *testing.T) {
	type decisions = []validating.Decision
	for name, test := range map[string]struct {
		spec v1.ValidatingAdmissionPolicySpec
		want decisions
	}{
		"none":           {v1.ValidatingAdmissionPolicySpec{}, nil},
		"satisfied":      {v1.ValidatingAdmissionPolicySpec{Validations: policytest.Validations("object.spec.replicas == 9")}, decisions{admitted(0)}},
		"not satisfied":  {v1.ValidatingAdmissionPolicySpec{Validations: policytest.Validations(few)}, decisions{denied(0, "failed expression: "+few)}},
		"several":        {v1.ValidatingAdmissionPolicySpec{Validations: policytest.Validations("true", few, "true", "false")}, decisions{admitted(0), denied(1, "failed expression: "+few), admitted(2), denied(3, "failed expression: false")}},
		"error":          {v1.ValidatingAdmissionPolicySpec{Validations: policytest.Validations(failing, "true")}, decisions{failed(0, noKey), admitted(1)}},
		"error, fail":    {v1.ValidatingAdmissionPolicySpec{FailurePolicy: new(v1.Fail), Validations: policytest.Validations(failing)}, decisions{failed(0, noKey)}},
		"error, ignored": {v1.ValidatingAdmissionPolicySpec{FailurePolicy: new(v1.Ignore), Validations: policytest.Validations(failing, few)}, decisions{ignored(failed(0, noKey)), denied(1, "failed expression: "+few)}},
		"compile error":  {v1.ValidatingAdmissionPolicySpec{Validations: policytest.Validations("object.spec", few)}, decisions{failed(0, notBool), denied(1, "failed expression: "+few)}},
		"compile error, ignored": {v1.ValidatingAdmissionPolicySpec{FailurePolicy: new(v1.Ignore), Validations: policytest.Validations("object.spec")},
			decisions{ignored(failed(0, notBool))}},
		"variable": {v1.ValidatingAdmissionPolicySpec{
			Variables:   []v1.Variable{{Name: "replicas", Expression: "object.spec.replicas"}, {Name: "few", Expression: "variables.replicas <= 5"}},
			Validations: policytest.Validations("variables.few", "variables.replicas > 5"),
		}, decisions{denied(0, "failed expression: variables.few"), admitted(1)}},
		"failing variable": {v1.ValidatingAdmissionPolicySpec{
			Variables:   []v1.Variable{{Name: "bad", Expression: failing}},
			Validations: policytest.Validations("variables.bad", "true || variables.bad"),
		}, decisions{failed(0, `expression 'variables.bad' resulted in error: composited variable "bad" fails to evaluate: no such key: missing`), admitted(1)}},
		"broken variable": {v1.ValidatingAdmissionPolicySpec{
			Variables:   []v1.Variable{{Name: "bad", Expression: "params"}},
			Validations: policytest.Validations("variables.bad == 1", "true"),
		}, decisions{
			failed(0, "expression 'variables.bad == 1' resulted in error: composited variable \"bad\" fails to compile: compilation failed: ERROR: <input>:1:1: undeclared reference to 'params' (in container '')\n | params\n | ^"),
			admitted(1),
		}},
		"authorizer": {v1.ValidatingAdmissionPolicySpec{Validations: policytest.Validations(
			"authorizer.requestResource.check('read').allowed()", "authorizer.requestResource.check('write').allowed()")},
			decisions{admitted(0), denied(1, "failed expression: authorizer.requestResource.check('write').allowed()")}},
	} {
		t.Run(name, func(t *testing.T) {
			result := found(t, test.spec)
			wantDecisions(t, result.Decisions(), test.want)
			if result.Annotations != nil {
				t.Errorf("annotations %v", result.Annotations)
			}
		})
	}
}

func TestReason(t *testing.T) {
	for _, reason := range []metav1.StatusReason{metav1.StatusReasonForbidden, metav1.StatusReasonRequestEntityTooLarge} {
		got := found(t, v1.ValidatingAdmissionPolicySpec{Validations: []v1.Validation{{Expression: few, Reason: &reason}, {Expression: failing, Reason: &reason}, {Expression: "true", Reason: &reason}}})
		want := []validating.Decision{denied(0, "failed expression: "+few), failed(1, noKey), admitted(2)}
		want[0].Reason = reason
		wantDecisions(t, got.Decisions(), want)
	}
}

func TestMessage(t *testing.T) {
	const limit = 5 * 1024
	for name, test := range map[string]struct {
		validation v1.Validation
		want       string
	}{
		"expression":                   {v1.Validation{Expression: " " + few + "\n"}, "failed expression: " + few},
		"fixed":                        {v1.Validation{Message: " too many "}, "too many"},
		"blank":                        {v1.Validation{Message: "  "}, "failed expression: " + few},
		"computed":                     {v1.Validation{MessageExpression: "' ' + string(object.spec.replicas) + ' '", Message: "fixed"}, "9"},
		"computed by a failing one":    {v1.Validation{MessageExpression: "string(object.spec.missing)", Message: "fixed"}, "fixed"},
		"failing, nothing fixed":       {v1.Validation{MessageExpression: "string(object.spec.missing)"}, "failed expression: " + few},
		"computed by a broken one":     {v1.Validation{MessageExpression: "'a' +", Message: "fixed"}, "fixed"},
		"not a string":                 {v1.Validation{MessageExpression: "1", Message: "fixed"}, "fixed"},
		"computed as empty":            {v1.Validation{MessageExpression: "''", Message: "fixed"}, "fixed"},
		"computed as blank":            {v1.Validation{MessageExpression: "' \\n '", Message: "fixed"}, "fixed"},
		"computed with a line break":   {v1.Validation{MessageExpression: "'a\\nb'", Message: "fixed"}, "fixed"},
		"computed with one at the end": {v1.Validation{MessageExpression: "'a\\n'", Message: "fixed"}, "a"},
		"computed to the limit":        {v1.Validation{MessageExpression: "'" + strings.Repeat("a", limit) + "'", Message: "fixed"}, strings.Repeat("a", limit)},
		"computed beyond the limit":    {v1.Validation{MessageExpression: "'" + strings.Repeat("a", limit+1) + "'", Message: "fixed"}, "fixed"},
		"computed with the authorizer": {v1.Validation{MessageExpression: "authorizer.path('/').check('get').reason()", Message: "fixed"}, "fixed"},
		"computed with it indirectly":  {v1.Validation{Expression: "!variables.may", MessageExpression: "string(variables.may)", Message: "fixed"}, "fixed"},
		"computed from a variable":     {v1.Validation{MessageExpression: "'at most ' + string(variables.most)"}, "at most 5"},
		"computed from the namespace":  {v1.Validation{MessageExpression: "namespaceObject.metadata.name"}, "blue"},
		"computed from the old object": {v1.Validation{MessageExpression: "oldObject == null ? 'new' : 'old'"}, "new"},
		"computed from the request":    {v1.Validation{MessageExpression: "request.userInfo.username + ' may not'"}, "jane may not"},
	} {
		t.Run(name, func(t *testing.T) {
			if test.validation.Expression == "" {
				test.validation.Expression = few
			}
			got := found(t, v1.ValidatingAdmissionPolicySpec{
				Variables:   []v1.Variable{{Name: "may", Expression: "authorizer.requestResource.check('read').allowed()"}, {Name: "most", Expression: "5"}},
				Validations: []v1.Validation{{Expression: "true", Message: "another"}, test.validation},
			})
			wantDecisions(t, got.Decisions(), []validating.Decision{admitted(0), denied(1, test.want)})
		})
	}
}

func TestMatchConditions(t *testing.T) {
	const noLabel = "expression 'object.metadata.labels.a == 'b'' resulted in error: no such key: labels"
	for name, test := range map[string]struct {
		conditions []string
		fail       validating.Decision // empty: not evaluated
		ignore     validating.Decision
	}{
		"true":              {[]string{"object.spec.replicas == 9"}, denied(0, "failed expression: false"), denied(0, "failed expression: false")},
		"false":             {[]string{few}, validating.Decision{}, validating.Decision{}},
		"true, false":       {[]string{"true", few}, validating.Decision{}, validating.Decision{}},
		"error":             {[]string{failing}, failed(-1, noKey), validating.Decision{}},
		"error, true":       {[]string{failing, "true"}, failed(-1, noKey), validating.Decision{}},
		"error, false":      {[]string{failing, few}, validating.Decision{}, validating.Decision{}},
		"false, error":      {[]string{few, failing}, validating.Decision{}, validating.Decision{}},
		"two errors":        {[]string{failing, "object.metadata.labels.a == 'b'"}, failed(-1, "["+noKey+", "+noLabel+"]"), validating.Decision{}},
		"same error twice":  {[]string{failing, failing}, failed(-1, noKey), validating.Decision{}},
		"compile error":     {[]string{"object.spec"}, failed(-1, notBool), validating.Decision{}},
		"namespaceObject":   {[]string{"namespaceObject == null"}, denied(0, "failed expression: false"), denied(0, "failed expression: false")},
		"authorizer":        {[]string{"authorizer.requestResource.check('read').allowed()"}, denied(0, "failed expression: false"), denied(0, "failed expression: false")},
		"authorizer, false": {[]string{"authorizer.requestResource.check('write').allowed()"}, validating.Decision{}, validating.Decision{}},
	} {
		for policy, want := range map[v1.FailurePolicyType]validating.Decision{v1.Fail: test.fail, v1.Ignore: test.ignore} {
			t.Run(name+", "+string(policy), func(t *testing.T) {
				spec := v1.ValidatingAdmissionPolicySpec{
					FailurePolicy:    &policy,
					Validations:      policytest.Validations("false"),
					AuditAnnotations: []v1.AuditAnnotation{{Key: "k", ValueExpression: "'evaluated'"}},
				}
				for _, expression := range test.conditions {
					spec.MatchConditions = append(spec.MatchConditions, v1.MatchCondition{Name: expression, Expression: expression})
				}
				got := found(t, spec)
				var decisions []validating.Decision
				if want.Policy != "" {
					decisions = append(decisions, want)
				}
				wantDecisions(t, got.Decisions(), decisions)
				if evaluated := want.Outcome == validating.Denied; (got.Annotations != nil) != evaluated {
					t.Errorf("annotations are %v", got.Annotations)
				}
			})
		}
	}
}

func TestAuditAnnotations(t *testing.T) {
	type (
		pairs     = []policy.Annotation
		decisions = []validating.Decision
	)
	noKey := "expression 'string(object.missing)' resulted in error: no such key: missing"
	long := strings.Repeat("a", 10*1024)
	for name, test := range map[string]struct {
		failurePolicy v1.FailurePolicyType
		expressions   []string
		want          pairs
		decisions     decisions
	}{
		"text":            {v1.Fail, []string{"request.operation"}, pairs{{Key: "p/a", Value: "CREATE"}}, nil},
		"two":             {v1.Fail, []string{"'2'", "'1'"}, pairs{{Key: "p/a", Value: "2"}, {Key: "p/b", Value: "1"}}, nil},
		"trimmed":         {v1.Fail, []string{"' x\\n'"}, pairs{{Key: "p/a", Value: "x"}}, nil},
		"null":            {v1.Fail, []string{"null", "'x'"}, pairs{{Key: "p/b", Value: "x"}}, nil},
		"text or null":    {v1.Fail, []string{"request.operation == 'CREATE' ? 'x' : null", "request.operation == 'CREATE' ? null : 'x'"}, pairs{{Key: "p/a", Value: "x"}}, nil},
		"empty":           {v1.Fail, []string{"''", "'\\t'"}, nil, nil},
		"cut off":         {v1.Fail, []string{"'" + long + "bc'"}, pairs{{Key: "p/a", Value: long}}, nil},
		"error":           {v1.Fail, []string{"string(object.missing)", "'x'"}, pairs{{Key: "p/b", Value: "x"}}, decisions{failed(-1, noKey)}},
		"error, ignored":  {v1.Ignore, []string{"string(object.missing)", "'x'"}, pairs{{Key: "p/b", Value: "x"}}, nil},
		"no text":         {v1.Fail, []string{"1"}, nil, decisions{failed(-1, "compilation error: must evaluate to one of [string null_type] but got int")}},
		"no text, ignore": {v1.Ignore, []string{"1"}, nil, nil},
		"authorizer": {v1.Fail, []string{"authorizer.path('/').check('get').reason()"}, nil,
			decisions{failed(-1, "expression 'authorizer.path('/').check('get').reason()' resulted in error: no such attribute(s): authorizer")}},
	} {
		t.Run(name, func(t *testing.T) {
			spec := v1.ValidatingAdmissionPolicySpec{FailurePolicy: &test.failurePolicy}
			for i, expression := range test.expressions {
				spec.AuditAnnotations = append(spec.AuditAnnotations, v1.AuditAnnotation{Key: string(rune('a' + i)), ValueExpression: expression})
			}
			got := found(t, spec)
			if diff := cmp.Diff(test.want, got.Annotations); diff != "" {
				t.Errorf("annotations differ (-want +got):\n%s", diff)
			}
			wantDecisions(t, got.Decisions(), test.decisions)
		})
	}
}

// An audit annotation that fails denies the request, whatever the binding's validationActions are.
func TestFailingAnnotationDenies(t *testing.T) {
	policy := policytest.Validating("p", v1.ValidatingAdmissionPolicySpec{AuditAnnotations: []v1.AuditAnnotation{{Key: "a", ValueExpression: "string(object.missing)"}}})
	got := evaluate(t, newServer(), create(1), store(policy, policytest.Binding("b", "p", v1.Warn)).Snapshot())
	if len(got.Decisions()) != 1 || !slices.Equal(got.Decisions()[0].Actions, []v1.ValidationAction{v1.Deny}) {
		t.Errorf("decisions are %+v", got.Decisions())
	}
}

// Searching a string in itself costs the square of a tenth of its length: 950 thousand units here.
// The budget of match conditions is 2.5 million units, and the other budgets are 10 million.
func TestBudgets(t *testing.T) {
	variables := []v1.Variable{{Name: "text", Expression: "'" + strings.Repeat("a", 9_750) + "'"}}
	const search = "variables.text.contains(variables.text)"
	conditions := func(n int) []v1.MatchCondition {
		return slices.Repeat([]v1.MatchCondition{{Name: "c", Expression: search}}, n)
	}
	annotations := func(n int) []v1.AuditAnnotation {
		return slices.Repeat([]v1.AuditAnnotation{{Key: "k", ValueExpression: "string(" + search + ")"}}, n)
	}
	withMessages := append(slices.Repeat(policytest.Validations(search), 5), slices.Repeat([]v1.Validation{{Expression: "false", MessageExpression: "string(" + search + ")"}}, 7)...)
	withMessages[0].Expression = failing
	// The messageExpression of a satisfied validation is not evaluated.
	unused := append(slices.Clone(withMessages[:6]), slices.Repeat([]v1.Validation{{Expression: "true", MessageExpression: "string(" + search + ")"}}, 7)...)
	unused[5].Message, unused[5].MessageExpression = "no", ""
	withUnused := []validating.Decision{failed(0, noKey), admitted(1), admitted(2), admitted(3), admitted(4), denied(5, "no")}
	for i := range 7 {
		withUnused = append(withUnused, admitted(6+i))
	}
	const noMessage = "failed messageExpression: " + exhausted
	allFailed := []validating.Decision{failed(0, noKey)}
	for i := range withMessages[1:] {
		allFailed = append(allFailed, failed(i+1, noMessage))
	}
	var allAdmitted []validating.Decision
	for i := range 10 {
		allAdmitted = append(allAdmitted, admitted(i))
	}
	for name, test := range map[string]struct {
		spec v1.ValidatingAdmissionPolicySpec
		want []validating.Decision
	}{
		"each within its own": {v1.ValidatingAdmissionPolicySpec{MatchConditions: conditions(2), AuditAnnotations: annotations(10), Validations: slices.Repeat(policytest.Validations(search), 10)}, allAdmitted},
		"conditions":          {v1.ValidatingAdmissionPolicySpec{MatchConditions: conditions(3), Validations: policytest.Validations("false")}, []validating.Decision{failed(-1, exhausted)}},
		"validations":         {v1.ValidatingAdmissionPolicySpec{Validations: append(policytest.Validations("false"), slices.Repeat(policytest.Validations(search), 11)...)}, []validating.Decision{failed(-1, exhausted)}},
		"annotations":         {v1.ValidatingAdmissionPolicySpec{AuditAnnotations: annotations(11), Validations: policytest.Validations("false")}, []validating.Decision{failed(-1, exhausted)}},
		"messages":            {v1.ValidatingAdmissionPolicySpec{Validations: withMessages}, allFailed},
		"messages not needed": {v1.ValidatingAdmissionPolicySpec{Validations: unused}, withUnused},
	} {
		t.Run(name, func(t *testing.T) {
			test.spec.Variables = variables
			wantDecisions(t, found(t, test.spec).Decisions(), test.want)

			test.spec.FailurePolicy = new(v1.Ignore)
			var want []validating.Decision
			for _, d := range test.want {
				d.Ignored = d.Outcome == validating.Failed
				want = append(want, d)
			}
			if name == "conditions" {
				want = nil // the request is exempt
			}
			wantDecisions(t, found(t, test.spec).Decisions(), want)
		})
	}
}

func TestIgnoredFailures(t *testing.T) {
	for name, test := range map[string]struct {
		spec v1.ValidatingAdmissionPolicySpec
		want []string
	}{
		"none":             {v1.ValidatingAdmissionPolicySpec{Validations: policytest.Validations("true")}, nil},
		"validation":       {v1.ValidatingAdmissionPolicySpec{Validations: policytest.Validations(failing)}, nil}, // is a decision
		"match condition":  {v1.ValidatingAdmissionPolicySpec{MatchConditions: []v1.MatchCondition{{Name: "c", Expression: failing}}}, []string{"p"}},
		"no match":         {v1.ValidatingAdmissionPolicySpec{MatchConditions: []v1.MatchCondition{{Name: "c", Expression: failing}, {Name: "d", Expression: "false"}}}, nil},
		"audit annotation": {v1.ValidatingAdmissionPolicySpec{AuditAnnotations: []v1.AuditAnnotation{{Key: "a", ValueExpression: "string(object.missing)"}, {Key: "b", ValueExpression: "1"}}}, []string{"p", "p"}},
	} {
		t.Run(name, func(t *testing.T) {
			test.spec.FailurePolicy = new(v1.Ignore)
			if diff := cmp.Diff(test.want, found(t, test.spec).Ignored); diff != "" {
				t.Errorf("ignored failures differ (-want +got):\n%s", diff)
			}
		})
	}
}
