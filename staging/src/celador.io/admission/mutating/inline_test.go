// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package mutating_test

import (
	"testing"

	"celador.io/admission/policytest"

	v1 "celador.io/api/admissionregistration/v1"
	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"celador.io/admission/mutating"
	"celador.io/admission/policyspec"
)

// admitted holds the data of a config map after admission, and the failures. The data was {"a":
// "1"}.
type admitted struct {
	data     map[string]string
	failures []mutating.Failure
}

// admit applies the policies to a request that creates the config map.
func admit(t *testing.T, features policyspec.Features, policies ...*v1.MutatingAdmissionPolicy) admitted {
	t.Helper()
	s := create(features, configMap("a", "1"), policies...)
	result, err := s.mutate(t)
	if err != nil {
		t.Fatal(err)
	}
	return admitted{s.data(), result.Failures}
}

func expect(t *testing.T, got, want admitted) {
	t.Helper()
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(admitted{})); diff != "" {
		t.Errorf("result (-want +got):\n%s", diff)
	}
}

func failure(message string, reason metav1.StatusReason, stated bool) []mutating.Failure {
	return []mutating.Failure{{Policy: "p", Binding: "p", Message: message, Reason: reason, Stated: stated}}
}

func refusal(message string, reason metav1.StatusReason) []mutating.Failure {
	return []mutating.Failure{{Policy: "p", Binding: "p", Message: message, Reason: reason, Stated: true, Refused: true}}
}

var unchanged = map[string]string{"a": "1"}

// An inline expression changes the object if it returns patch operations, and refuses the request
// if it returns false.
func TestInlineExpressions(t *testing.T) {
	for source, want := range map[string]admitted{
		`JSONPatch{op: "add", path: "/data/b", value: "2"}`:                                             {data: map[string]string{"a": "1", "b": "2"}},
		`[JSONPatch{op: "add", path: "/data/b", value: "2"}, JSONPatch{op: "remove", path: "/data/a"}]`: {data: map[string]string{"b": "2"}},
		`[JSONPatch{}].filter(p, false)`:                                                                {data: unchanged},
		`null`:                                                                                          {data: unchanged},
		`object.data.a == "1" ? null : JSONPatch{op: "remove", path: "/data/a"}`:                        {data: unchanged},
		`object.data.a == "2" ? null : JSONPatch{op: "remove", path: "/data/a"}`:                        {data: map[string]string{}},
		`object.data.a == "1" ? [JSONPatch{op: "remove", path: "/data/a"}] : null`:                      {data: map[string]string{}},
		`object.data.a == "1" ? null : [JSONPatch{op: "remove", path: "/data/a"}]`:                      {data: unchanged},
		`object.data.a == "1" ? false : JSONPatch{op: "remove", path: "/data/a"}`:                       {data: unchanged, failures: refusal("expression evaluated to false", metav1.StatusReasonInvalid)},
		`true`:  {data: unchanged},
		`false`: {data: unchanged, failures: refusal("expression evaluated to false", metav1.StatusReasonInvalid)},
		`object.data.missing == "1"`: {data: unchanged,
			failures: failure(`expression 'object.data.missing == "1"' resulted in error: no such key: missing`, metav1.StatusReasonInvalid, false)},
		`JSONPatch{op: "remove", path: "/data/missing"}`: {data: unchanged,
			failures: failure("JSON Patch: error in remove for path: '/data/missing': Unable to remove nonexistent key: missing: missing value", metav1.StatusReasonInvalid, false)},
		`"true"`: {data: unchanged, failures: failure("must evaluate to one of [JSONPatch list(JSONPatch) null_type bool] but got string", metav1.StatusReasonInvalid, false)},
	} {
		t.Run(source, func(t *testing.T) { expect(t, admit(t, on, policytest.Mutating("p", inline(source))), want) })
	}
}

// failurePolicy Ignore ignores errors of an inline expression, but not its refusal of a request.
func TestRefusalIsNotIgnored(t *testing.T) {
	for source, want := range map[string]mutating.Failure{
		"false":                    {Message: "expression evaluated to false", Reason: metav1.StatusReasonInvalid, Stated: true, Refused: true},
		"object.data.missing == 1": {Message: "expression 'object.data.missing == 1' resulted in error: no such key: missing", Reason: metav1.StatusReasonInvalid, Ignored: true},
	} {
		want.Policy, want.Binding = "p", "p"
		expect(t, admit(t, on, ignoring(policytest.Mutating("p", inline(source)))), admitted{unchanged, []mutating.Failure{want}})
	}
}

// The message and reason of a mutation replace the defaults in its failures.
func TestMessageAndReason(t *testing.T) {
	for name, test := range map[string]struct {
		mutation v1.Mutation
		want     []mutating.Failure
	}{
		"message":            {v1.Mutation{Expression: new("false"), Message: new("no")}, refusal("no", metav1.StatusReasonInvalid)},
		"reason":             {v1.Mutation{Expression: new("false"), Reason: new(metav1.StatusReasonForbidden)}, refusal("expression evaluated to false", metav1.StatusReasonForbidden)},
		"message of errors":  {v1.Mutation{Expression: new("object.data.b == '1'"), Message: new("no")}, failure("no", metav1.StatusReasonInvalid, false)},
		"reason of errors":   {v1.Mutation{Expression: new("object.data.b == '1'"), Message: new("no"), Reason: new(metav1.StatusReasonForbidden)}, failure("no", metav1.StatusReasonForbidden, true)},
		"of other mutations": {with(policytest.SetData("b", "object.data.b"), func(m *v1.Mutation) { m.Message = new("no b") }), failure("no b", metav1.StatusReasonInvalid, false)},
		"nothing fails":      {v1.Mutation{Expression: new("true"), Message: new("no")}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			expect(t, admit(t, on, policytest.Mutating("p", test.mutation)), admitted{unchanged, test.want})
		})
	}
}

func with(m v1.Mutation, change func(*v1.Mutation)) v1.Mutation {
	change(&m)
	return m
}

func conditional(m v1.Mutation, condition string) v1.Mutation {
	return with(m, func(m *v1.Mutation) { m.Condition = &condition })
}

// A mutation applies only if its condition is true. The condition reads the object with the
// mutations before it.
func TestConditions(t *testing.T) {
	changed := map[string]string{"a": "1", "b": "2"}
	for condition, want := range map[string]admitted{
		"true":                 {data: changed},
		"object.data.a == '1'": {data: changed},
		"false":                {data: unchanged},
		"variables.isTwo":      {data: unchanged},
		"object.data.missing == 1": {data: unchanged,
			failures: failure("expression 'object.data.missing == 1' resulted in error: no such key: missing", metav1.StatusReasonInvalid, false)},
	} {
		t.Run(condition, func(t *testing.T) {
			p := policytest.Mutating("p", conditional(policytest.SetData("b", "'2'"), condition))
			p.Spec.Variables = []v1.Variable{{Name: "isTwo", Expression: "object.data.a == '2'"}}
			expect(t, admit(t, on, p), want)
		})
	}
	t.Run("after other mutations", func(t *testing.T) {
		p := policytest.Mutating("p", policytest.SetData("a", "'2'"), conditional(policytest.SetData("b", "'2'"), "object.data.a == '2'"), conditional(policytest.SetData("c", "'3'"), "object.data.a == '1'"))
		expect(t, admit(t, on, p), admitted{data: map[string]string{"a": "2", "b": "2"}})
	})
	t.Run("ignored error", func(t *testing.T) {
		failed := failure("expression 'object.data.missing == 1' resulted in error: no such key: missing", metav1.StatusReasonInvalid, false)
		failed[0].Ignored = true
		expect(t, admit(t, on, ignoring(policytest.Mutating("p", conditional(inline("false"), "object.data.missing == 1")))), admitted{unchanged, failed})
	})
}

// Without the feature gate, the fields of the feature are ignored. A mutation that has no other
// fields fails.
func TestInlineExpressionsOff(t *testing.T) {
	off := policyspec.Features{}
	stated := with(policytest.SetData("b", "object.data.missing"), func(m *v1.Mutation) { m.Message, m.Reason = new("no"), new(metav1.StatusReasonForbidden) })
	for name, test := range map[string]struct {
		mutation v1.Mutation
		want     admitted
	}{
		"condition":          {conditional(policytest.SetData("b", "'2'"), "false"), admitted{data: map[string]string{"a": "1", "b": "2"}}},
		"wrong condition":    {conditional(policytest.SetData("b", "'2'"), "no such thing"), admitted{data: map[string]string{"a": "1", "b": "2"}}},
		"message and reason": {stated, admitted{unchanged, failure(`expression '[JSONPatch{op: "add", path: "/data/b", value: object.data.missing}]' resulted in error: no such key: missing`, metav1.StatusReasonInvalid, false)}},
	} {
		t.Run(name, func(t *testing.T) {
			expect(t, admit(t, off, policytest.Mutating("p", test.mutation)), test.want)
		})
	}
	for name, mutation := range map[string]v1.Mutation{
		`""`:                    inline("null"),
		`"JSONMergePatch"`:      {PatchType: v1.PatchTypeJSONMergePatch, JSONMergePatch: &v1.JSONMergePatch{Expression: "{}"}},
		`"StrategicMergePatch"`: {PatchType: v1.PatchTypeStrategicMergePatch, StrategicMergePatch: &v1.StrategicMergePatch{Expression: "{}"}},
	} {
		t.Run("no fields left of "+name, func(t *testing.T) {
			want := "mutation has no expression for patchType " + name + ", or feature gate MutatingAdmissionPolicyInlineExpressions is off"
			expect(t, admit(t, off, policytest.Mutating("p", mutation)), admitted{unchanged, failure(want, metav1.StatusReasonInvalid, false)})
		})
	}
}
