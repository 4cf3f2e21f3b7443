// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package validatingadmissionpolicy_test

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"celador.io/admission/policytest"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/plugin/policy/validating/metrics"

	v1 "celador.io/api/admissionregistration/v1"
)

func TestDenial(t *testing.T) {
	for name, test := range map[string]struct {
		validation v1.Validation
		message    string
		reason     metav1.StatusReason
		code       int32
	}{
		"expression":   {v1.Validation{Expression: few}, "failed expression: object.spec.replicas <= 5", "Invalid", 422},
		"message":      {v1.Validation{Expression: few, Message: "too many"}, "too many", "Invalid", 422},
		"computed":     {v1.Validation{Expression: few, MessageExpression: "string(object.spec.replicas)"}, "9", "Invalid", 422},
		"unauthorized": {v1.Validation{Expression: few, Reason: new(metav1.StatusReasonUnauthorized)}, "failed expression: object.spec.replicas <= 5", "Unauthorized", 401},
		"forbidden":    {v1.Validation{Expression: few, Reason: new(metav1.StatusReasonForbidden)}, "failed expression: object.spec.replicas <= 5", "Forbidden", 403},
		"too large":    {v1.Validation{Expression: few, Reason: new(metav1.StatusReasonRequestEntityTooLarge)}, "failed expression: object.spec.replicas <= 5", "RequestEntityTooLarge", 413},
		"invalid":      {v1.Validation{Expression: few, Reason: new(metav1.StatusReasonInvalid)}, "failed expression: object.spec.replicas <= 5", "Invalid", 422},
		"error":        {v1.Validation{Expression: failing, Reason: new(metav1.StatusReasonForbidden)}, "expression 'object.spec.missing.field == 1' resulted in error: no such key: missing", "Invalid", 422},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				policy := policytest.Validating("demo-policy.example.com", v1.ValidatingAdmissionPolicySpec{Validations: []v1.Validation{test.validation}})
				plugin, _ := started(t, policy, policytest.Binding("demo-binding-test.example.com", policy.Name, v1.Deny))
				err := send(t, plugin, create(9), interfaces()).Err
				var got *apierrors.StatusError
				if !errors.As(err, &got) {
					t.Fatalf("got %T: %v", err, err)
				}
				message := "ValidatingAdmissionPolicy 'demo-policy.example.com' with binding 'demo-binding-test.example.com' denied request: " + test.message
				want := metav1.Status{
					Status:  metav1.StatusFailure,
					Message: `deployments.apps "web" is forbidden: ` + message,
					Reason:  test.reason,
					Code:    test.code,
					Details: &metav1.StatusDetails{Group: "apps", Kind: "deployments", Name: "web", Causes: []metav1.StatusCause{{Message: message}}},
				}
				if diff := cmp.Diff(want, got.ErrStatus); diff != "" {
					t.Errorf("the status differs (-want +got):\n%s", diff)
				}
			})
		})
	}
}

func TestActions(t *testing.T) {
	const (
		message  = "failed expression: object.spec.replicas <= 5"
		noKey    = "expression 'object.spec.missing.field == 1' resulted in error: no such key: missing"
		warnings = "Validation failed for ValidatingAdmissionPolicy 'few' with binding "
		key      = "validation.policy.admission.k8s.io/validation_failure"
		counted  = "error_type=invalid_error policy=few policy_binding="
	)
	two := policytest.Validating("few", v1.ValidatingAdmissionPolicySpec{Validations: policytest.Validations(few, "true", failing)})
	ignoring := two.DeepCopy()
	ignoring.Spec.FailurePolicy = new(v1.Ignore)
	for name, test := range map[string]struct {
		policy   *v1.ValidatingAdmissionPolicy
		bindings []*v1.ValidatingAdmissionPolicyBinding
		want     response // errDenied stands for any denial with the message
		checks   map[string]float64
	}{
		"deny": {two, []*v1.ValidatingAdmissionPolicyBinding{policytest.Binding("a", "few", v1.Deny)},
			response{Err: errDenied},
			map[string]float64{"enforcement_action=deny " + counted + "a": 2}},
		"warn": {two, []*v1.ValidatingAdmissionPolicyBinding{policytest.Binding("a", "few", v1.Warn)},
			response{Warnings: []string{warnings + "'a': " + message, warnings + "'a': " + noKey}},
			map[string]float64{"enforcement_action=warn " + counted + "a": 2}},
		"audit": {two, []*v1.ValidatingAdmissionPolicyBinding{policytest.Binding("a", "few", v1.Audit)},
			response{Annotations: map[string]string{key: `[` +
				`{"message":"failed expression: object.spec.replicas \u003c= 5","policy":"few","binding":"a","expressionIndex":0,"validationActions":["Audit"]},` +
				`{"message":"` + noKey + `","policy":"few","binding":"a","expressionIndex":2,"validationActions":["Audit"]}]`}},
			map[string]float64{"enforcement_action=audit " + counted + "a": 2}},
		"error ignored": {ignoring, []*v1.ValidatingAdmissionPolicyBinding{policytest.Binding("a", "few", v1.Audit, v1.Warn)},
			response{
				Warnings:    []string{warnings + "'a': " + message},
				Annotations: map[string]string{key: `[{"message":"failed expression: object.spec.replicas \u003c= 5","policy":"few","binding":"a","expressionIndex":0,"validationActions":["Audit","Warn"]}]`},
			},
			map[string]float64{
				"enforcement_action=allow " + counted + "a": 1,
				"enforcement_action=audit " + counted + "a": 1,
				"enforcement_action=warn " + counted + "a":  1,
			}},
		"by two bindings": {ignoring, []*v1.ValidatingAdmissionPolicyBinding{policytest.Binding("b", "few", v1.Deny), policytest.Binding("a", "few", v1.Warn)},
			response{Err: errDenied, Warnings: []string{warnings + "'a': " + message}},
			map[string]float64{
				"enforcement_action=allow " + counted + "a": 1, "enforcement_action=warn " + counted + "a": 1,
				"enforcement_action=allow " + counted + "b": 1, "enforcement_action=deny " + counted + "b": 1,
			}},
		"without one": {two, []*v1.ValidatingAdmissionPolicyBinding{policytest.Binding("a", "few", []v1.ValidationAction{}...)}, response{}, map[string]float64{}},
		"unknown": {two, []*v1.ValidatingAdmissionPolicyBinding{policytest.Binding("a", "few", "Applaud")},
			response{Err: errors.New("unrecognized validation action 'Applaud' of ValidatingAdmissionPolicyBinding 'a' with ValidatingAdmissionPolicy 'few'")}, map[string]float64{}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				objects := []runtime.Object{test.policy}
				for _, b := range test.bindings {
					objects = append(objects, b)
				}
				plugin, _ := started(t, objects...)
				metrics.Metrics.Reset()
				got := send(t, plugin, create(9), interfaces())
				if test.want.Err == errDenied {
					if !strings.Contains(text(got.Err), "denied request: "+message) {
						t.Errorf("error is %v", got.Err)
					}
				} else if text(got.Err) != text(test.want.Err) {
					t.Errorf("error is %v, want %v", got.Err, test.want.Err)
				}
				if diff := cmp.Diff(test.want.Warnings, got.Warnings); diff != "" {
					t.Errorf("warnings differ (-want +got):\n%s", diff)
				}
				if diff := cmp.Diff(test.want.Annotations, got.Annotations); diff != "" {
					t.Errorf("audit annotations differ (-want +got):\n%s", diff)
				}
				if diff := cmp.Diff(test.checks, checks(t)); diff != "" {
					t.Errorf("counts differ (-want +got):\n%s", diff)
				}
			})
		})
	}
}

var errDenied = errors.New("denied")

// The error has the message of the first policy by name that denies the request.
func TestFirstDenial(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		plugin, _ := started(t,
			atMost("b", "4"), policytest.Binding("a", "b", v1.Deny),
			atMost("c", "3"), policytest.Binding("c", "c", v1.Deny),
			atMost("a", "20"), policytest.Binding("b", "a", v1.Deny),
			atMost("d", "2"), policytest.Binding("d", "d", v1.Warn))
		got := send(t, plugin, create(9), interfaces())
		const want = `deployments.apps "web" is forbidden: ValidatingAdmissionPolicy 'b' with binding 'a' denied request: failed expression: object.spec.replicas <= 4`
		if text(got.Err) != want {
			t.Errorf("error is %v, want %s", got.Err, want)
		}
		if len(got.Warnings) != 1 {
			t.Errorf("warnings are %q, want one of policy d", got.Warnings)
		}
	})
}

// The keys of audit annotations begin with the name of their policy.
func TestAuditAnnotations(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		note := func(name, expression string) *v1.ValidatingAdmissionPolicy {
			return policytest.Validating(name, v1.ValidatingAdmissionPolicySpec{AuditAnnotations: []v1.AuditAnnotation{{Key: "note", ValueExpression: expression}}})
		}
		plugin, _ := started(t,
			note("one", "'by ' + request.userInfo.username"), policytest.Binding("one", "one", v1.Deny), policytest.Binding("again", "one", v1.Warn),
			note("two", "string(object.spec.replicas)"), policytest.Binding("two", "two", v1.Audit),
			note("three", "'unbound'"))
		got := send(t, plugin, create(9), interfaces())
		want := response{Annotations: map[string]string{"one/note": "by jane", "two/note": "9"}}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("differs (-want +got):\n%s", diff)
		}
	})
}

// The annotation of failures lists a limited number of failures.
func TestManyFailures(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var objects []runtime.Object
		for _, name := range strings.Split("abcdefghijklmnopqrstuvwxyz", "") {
			policy := policytest.Validating(name, v1.ValidatingAdmissionPolicySpec{Validations: policytest.Validations("false", "false")})
			objects = append(objects, policy, policytest.Binding(name, name, v1.Audit))
		}
		plugin, _ := started(t, objects...)
		got := send(t, plugin, create(9), interfaces()).Annotations["validation.policy.admission.k8s.io/validation_failure"]
		if n := strings.Count(got, `"message"`); n != 50 {
			t.Errorf("%d failures, want 50", n)
		}
		if strings.Contains(got, `"policy":"z"`) || !strings.Contains(got, `"policy":"y"`) {
			t.Errorf("not the first 50: %s", got)
		}
	})
}

// An error of AddAnnotation does not affect the response.
func TestAnnotationsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		policy := policytest.Validating("few", v1.ValidatingAdmissionPolicySpec{
			Validations:      policytest.Validations(few),
			AuditAnnotations: []v1.AuditAnnotation{{Key: "k", ValueExpression: "'noted'"}},
		})
		plugin, _ := started(t, policy, policytest.Binding("few", "few", v1.Audit, v1.Warn))
		got := send(t, plugin, unannotated{create(9)}, interfaces())
		want := response{Warnings: []string{"Validation failed for ValidatingAdmissionPolicy 'few' with binding 'few': failed expression: object.spec.replicas <= 5"}}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("differs (-want +got):\n%s", diff)
		}
	})
}

type unannotated struct{ admission.Attributes }

// AddAnnotation implements admission.Attributes.
func (unannotated) AddAnnotation(string, string) error { return errors.New("refused") }
