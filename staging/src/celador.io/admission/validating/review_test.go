// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package validating_test

import (
	"net/http"
	"strings"
	"testing"

	v1 "celador.io/api/admissionregistration/v1"
	"github.com/google/go-cmp/cmp"
	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"celador.io/admission/policytest"
	"celador.io/admission/review"
	"celador.io/admission/validating"
)

// converted returns a request for an Event of events.k8s.io that the API server has converted.
func converted(t *testing.T, text string) *review.Request {
	t.Helper()
	r, err := review.FromRequest(&admissionv1.AdmissionRequest{
		UID: "u1", Operation: admissionv1.Create, Name: "started",
		Kind: metav1.GroupVersionKind{Version: "v1", Kind: "Event"}, Resource: metav1.GroupVersionResource{Version: "v1", Resource: "events"},
		RequestKind:     &metav1.GroupVersionKind{Group: "events.k8s.io", Version: "v1", Kind: "Event"},
		RequestResource: &metav1.GroupVersionResource{Group: "events.k8s.io", Version: "v1", Resource: "events"},
		Object:          runtime.RawExtension{Raw: []byte(`{"apiVersion":"v1","kind":"Event","metadata":{"name":"started"},"reason":"` + text + `"}`)},
	})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// The API server sends an Event of events.k8s.io as one of core/v1, because the webhook's rules
// name that. Policies match the converted object, and answers name the resource of the client.
func TestReview(t *testing.T) {
	p := policytest.Validating("reasons.example.com", v1.ValidatingAdmissionPolicySpec{
		MatchConstraints: policytest.Match(v1.Equivalent, policytest.Rule("", "v1", "events")),
		MatchConditions:  []v1.MatchCondition{{Name: "new", Expression: "request.resource.group == 'events.k8s.io'"}},
		Validations: []v1.Validation{{
			Expression: "object.reason != 'Bad' || request.requestResource.group != 'events.k8s.io'", MessageExpression: "'reason ' + object.reason", Reason: new(metav1.StatusReasonForbidden),
		}},
		AuditAnnotations: []v1.AuditAnnotation{{Key: "my_reason", ValueExpression: "string(object.reason)"}},
	})
	engine := validating.NewEngine(validating.Config{})
	for name, test := range map[string]struct {
		text    string
		actions []v1.ValidationAction
		want    admissionv1.AdmissionResponse
	}{
		"admitted": {"Good", []v1.ValidationAction{v1.Deny}, admissionv1.AdmissionResponse{
			Allowed: true, AuditAnnotations: map[string]string{"reasons.example.com_my_reason": "Good"},
		}},
		"denied": {"Bad", []v1.ValidationAction{v1.Deny}, admissionv1.AdmissionResponse{
			AuditAnnotations: map[string]string{"reasons.example.com_my_reason": "Bad"},
			Result: &metav1.Status{
				Status: metav1.StatusFailure, Reason: metav1.StatusReasonForbidden, Code: http.StatusForbidden,
				Message: `events.events.k8s.io "started" is forbidden: ValidatingAdmissionPolicy 'reasons.example.com' with binding 'b' denied request: reason Bad`,
				Details: &metav1.StatusDetails{Group: "events.k8s.io", Kind: "events", Name: "started", Causes: []metav1.StatusCause{
					{Message: "ValidatingAdmissionPolicy 'reasons.example.com' with binding 'b' denied request: reason Bad"},
				}},
			},
		}},
		"warned and audited": {"Bad", []v1.ValidationAction{v1.Warn, v1.Audit}, admissionv1.AdmissionResponse{
			Allowed:  true,
			Warnings: []string{"Validation failed for ValidatingAdmissionPolicy 'reasons.example.com' with binding 'b': reason Bad"},
			AuditAnnotations: map[string]string{
				"reasons.example.com_my_reason":                         "Bad",
				"validation.policy.admission.k8s.io_validation_failure": `[{"message":"reason Bad","policy":"reasons.example.com","binding":"b","expressionIndex":0,"validationActions":["Warn","Audit"]}]`,
			},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			snapshot, err := engine.NewSnapshot(p, policytest.Binding("b", p.Name, test.actions...))
			if err != nil {
				t.Fatal(err)
			}
			r := converted(t, test.text)
			test.want.UID = "u1"
			if diff := cmp.Diff(&test.want, engine.Review(t.Context(), r, snapshot)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// A policy that names only the version that the client requested fails, because the object is in
// another one. Its rules do not decide that it does not apply.
func TestReviewInOtherVersion(t *testing.T) {
	const failed = "failed to convert object version: cannot convert /v1, Kind=Event to events.k8s.io/v1, Kind=Event: the API server converts the objects of reviews"
	for name, test := range map[string]struct {
		constraints   *v1.MatchResources
		failurePolicy v1.FailurePolicyType
		want          string
	}{
		"original":           {policytest.Match(v1.Equivalent, policytest.Rule("events.k8s.io", "v1", "events")), v1.Fail, failed},
		"exactly":            {policytest.Match(v1.Exact, policytest.Rule("events.k8s.io", "v1", "events")), v1.Fail, failed},
		"failure is ignored": {policytest.Match(v1.Equivalent, policytest.Rule("events.k8s.io", "v1", "events")), v1.Ignore, ""},
		"both":               {policytest.Match(v1.Equivalent, policytest.Rule("*", "v1", "events")), v1.Fail, "reason Bad"},
	} {
		t.Run(name, func(t *testing.T) {
			engine := validating.NewEngine(validating.Config{})
			p := policytest.Validating("reasons.example.com", v1.ValidatingAdmissionPolicySpec{
				MatchConstraints: test.constraints, FailurePolicy: &test.failurePolicy,
				Validations: []v1.Validation{{Expression: "object.reason != 'Bad'", Message: "reason Bad"}},
			})
			snapshot, err := engine.NewSnapshot(p, policytest.Binding("b", p.Name, v1.Deny))
			if err != nil {
				t.Fatal(err)
			}
			response := engine.Review(t.Context(), converted(t, "Bad"), snapshot)
			if response.Allowed != (test.want == "") || !response.Allowed && !strings.HasSuffix(response.Result.Message, test.want) {
				t.Errorf("got %v %v, want %q", response.Allowed, response.Result, test.want)
			}
		})
	}
}
