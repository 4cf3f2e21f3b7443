// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package validating_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"testing"

	v1 "celador.io/api/admissionregistration/v1"
	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"celador.io/admission/policy"
	"celador.io/admission/policyspec"
	"celador.io/admission/policytest"
	"celador.io/admission/validating"
)

// resultOf returns the result of a policy "p" that is bound with the actions.
func resultOf(t *testing.T, spec v1.ValidatingAdmissionPolicySpec, actions ...v1.ValidationAction) validating.Result {
	t.Helper()
	return evaluate(t, newServer(), create(9), store(policytest.Validating("p", spec), policytest.Binding("b", "p", actions...)).Snapshot())
}

func TestErr(t *testing.T) {
	denying := func(reason *metav1.StatusReason) v1.ValidatingAdmissionPolicySpec {
		return v1.ValidatingAdmissionPolicySpec{Validations: []v1.Validation{{Expression: "true"}, {Expression: "false", Message: "no", Reason: reason}, {Expression: "false", Message: "never", Reason: new(metav1.StatusReasonForbidden)}}}
	}
	broken := v1.ValidatingAdmissionPolicySpec{Validations: policytest.Validations(failing)}
	ignoring := broken
	ignoring.FailurePolicy = new(v1.Ignore)
	const denied = "ValidatingAdmissionPolicy 'p' with binding 'b' denied request: "
	for name, test := range map[string]struct {
		result validating.Result
		// cause is the message. It is empty if the request is not rejected.
		cause  string
		reason metav1.StatusReason
		code   int32
	}{
		"nothing":             {result: evaluate(t, newServer(), create(1), store().Snapshot())},
		"admitted":            {result: resultOf(t, v1.ValidatingAdmissionPolicySpec{Validations: policytest.Validations("true")})},
		"denied":              {resultOf(t, denying(nil)), denied + "no", metav1.StatusReasonInvalid, http.StatusUnprocessableEntity},
		"forbidden":           {resultOf(t, denying(new(metav1.StatusReasonForbidden))), denied + "no", metav1.StatusReasonForbidden, http.StatusForbidden},
		"unauthorized":        {resultOf(t, denying(new(metav1.StatusReasonUnauthorized))), denied + "no", metav1.StatusReasonUnauthorized, http.StatusUnauthorized},
		"too large":           {resultOf(t, denying(new(metav1.StatusReasonRequestEntityTooLarge))), denied + "no", metav1.StatusReasonRequestEntityTooLarge, http.StatusRequestEntityTooLarge},
		"another reason":      {resultOf(t, denying(new(metav1.StatusReason("Other")))), denied + "no", "Other", http.StatusUnprocessableEntity},
		"denied and audited":  {resultOf(t, denying(nil), v1.Audit, v1.Deny), denied + "no", metav1.StatusReasonInvalid, http.StatusUnprocessableEntity},
		"warned and audited":  {result: resultOf(t, denying(nil), v1.Warn, v1.Audit)},
		"failed":              {resultOf(t, broken), denied + "expression 'object.spec.missing == 1' resulted in error: no such key: missing", metav1.StatusReasonInvalid, http.StatusUnprocessableEntity},
		"failed, but ignored": {result: resultOf(t, ignoring)},
		"singleton": {
			evaluate(t, newServer(), create(1), storeWith(policyspec.Features{policyspec.Singleton: true}, nil, singleton(denyingWith("p", "no"))).Snapshot()),
			"ValidatingAdmissionPolicy 'p' denied request: no", metav1.StatusReasonInvalid, http.StatusUnprocessableEntity,
		},
	} {
		t.Run(name, func(t *testing.T) {
			err := test.result.Err()
			if test.cause == "" {
				if err != nil {
					t.Errorf("got %v", err)
				}
				return
			}
			var api *apierrors.StatusError
			if !errors.As(err, &api) {
				t.Fatalf("got %v, want an API error", err)
			}
			want := metav1.Status{
				Status: metav1.StatusFailure, Reason: test.reason, Code: test.code, Message: `deployments.apps "web" is forbidden: ` + test.cause,
				Details: &metav1.StatusDetails{Group: "apps", Kind: "deployments", Name: "web", Causes: []metav1.StatusCause{{Message: test.cause}}},
			}
			if diff := cmp.Diff(want, api.ErrStatus); diff != "" {
				t.Errorf("status differs (-want +got):\n%s", diff)
			}
		})
	}
	err := resultOf(t, denying(nil), v1.Deny, "Explode").Err()
	if want := "unrecognized validation action 'Explode' of ValidatingAdmissionPolicyBinding 'b' with ValidatingAdmissionPolicy 'p'"; err == nil || err.Error() != want {
		t.Errorf("error for an unknown action is %v, want %s", err, want)
	}
}

func TestWarnings(t *testing.T) {
	no := v1.ValidatingAdmissionPolicySpec{Validations: []v1.Validation{{Expression: "false", Message: "no"}, {Expression: "true"}, {Expression: "false", Message: "never"}}}
	ignoring := v1.ValidatingAdmissionPolicySpec{FailurePolicy: new(v1.Ignore), Validations: policytest.Validations(failing)}
	const failed = "Validation failed for ValidatingAdmissionPolicy 'p' with binding 'b': "
	for name, test := range map[string]struct {
		result validating.Result
		want   []string
	}{
		"warn":          {resultOf(t, no, v1.Warn), []string{failed + "no", failed + "never"}},
		"audit, warn":   {resultOf(t, no, v1.Audit, v1.Warn), []string{failed + "no", failed + "never"}},
		"deny":          {resultOf(t, no, v1.Deny), nil},
		"warn, ignored": {resultOf(t, ignoring, v1.Warn), nil},
	} {
		if diff := cmp.Diff(test.want, test.result.Warnings()); diff != "" {
			t.Errorf("%s: warnings differ (-want +got):\n%s", name, diff)
		}
	}
}

func TestResultAnnotations(t *testing.T) {
	spec := func(validations int) v1.ValidatingAdmissionPolicySpec {
		s := v1.ValidatingAdmissionPolicySpec{AuditAnnotations: []v1.AuditAnnotation{{Key: "k", ValueExpression: "'v'"}}}
		for i := range validations {
			s.Validations = append(s.Validations, v1.Validation{Expression: "false", Message: fmt.Sprint("no ", i)})
		}
		return s
	}
	for name, test := range map[string]struct {
		failures          int
		actions           []v1.ValidationAction
		reported, omitted int
	}{
		"none":       {0, []v1.ValidationAction{v1.Audit}, 0, 0},
		"denied":     {2, []v1.ValidationAction{v1.Deny}, 0, 0},
		"audited":    {2, []v1.ValidationAction{v1.Warn, v1.Audit}, 2, 0},
		"limit":      {50, []v1.ValidationAction{v1.Audit}, 50, 0},
		"over limit": {53, []v1.ValidationAction{v1.Audit}, 50, 3},
	} {
		t.Run(name, func(t *testing.T) {
			result := resultOf(t, spec(test.failures), test.actions...)
			want := []policy.Annotation{{Key: "p/k", Value: "v"}}
			if test.reported > 0 {
				var failures []map[string]any
				for i := range test.reported {
					failures = append(failures, map[string]any{"message": fmt.Sprint("no ", i), "policy": "p", "binding": "b", "expressionIndex": i, "validationActions": test.actions})
				}
				wire, err := json.Marshal(failures)
				if err != nil {
					t.Fatal(err)
				}
				want = append(want, policy.Annotation{Key: "validation.policy.admission.k8s.io/validation_failure", Value: string(wire)})
			}
			for range 2 { // The result must not change.
				got, omitted := result.AuditAnnotations()
				if omitted != test.omitted {
					t.Errorf("%d omitted, want %d", omitted, test.omitted)
				}
				if diff := cmp.Diff(canonical(t, want), canonical(t, got)); diff != "" {
					t.Errorf("annotations differ (-want +got):\n%s", diff)
				}
			}
			if len(result.Annotations) != 1 {
				t.Errorf("Annotations is %v", result.Annotations)
			}
		})
	}
}

// canonical decodes values that are JSON.
func canonical(t *testing.T, annotations []policy.Annotation) map[string]any {
	t.Helper()
	values := map[string]any{}
	for _, a := range annotations {
		var value any = a.Value
		_ = json.Unmarshal([]byte(a.Value), &value) // other values are texts
		values[a.Key] = value
	}
	return values
}
