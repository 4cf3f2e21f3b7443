// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package validating_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	v1 "celador.io/api/admissionregistration/v1"
	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"celador.io/admission/policyspec"
	"celador.io/admission/policytest"
	"celador.io/admission/validating"
)

var causesOn = policyspec.Features{policyspec.Causes: true, policyspec.Singleton: true, policyspec.ValidationFailurePolicy: true}

// about returns a validation that is never satisfied, with a message and a fieldPath.
func about(message, fieldPath string) v1.Validation {
	v := v1.Validation{Expression: "false", Message: message}
	if fieldPath != "" {
		v.FieldPath = &fieldPath
	}
	return v
}

// statusWith returns the status with which the policies reject a request while the features are on.
func statusWith(t *testing.T, features policyspec.Features, objects ...any) metav1.Status {
	t.Helper()
	s := newServer()
	engine := validating.NewEngine(validating.Config{Features: features, Namespaces: s})
	store := engine.NewStore()
	for _, object := range objects {
		if err := store.Set(object.(runtime.Object)); err != nil {
			t.Fatal(err)
		}
	}
	result, err := engine.Evaluate(t.Context(), create(9), s, store.Snapshot())
	if err != nil {
		t.Fatal(err)
	}
	defer result.Free()
	var api *apierrors.StatusError
	if err := result.Err(); !errors.As(err, &api) {
		t.Fatalf("got %v, want an API error", err)
	}
	return api.ErrStatus
}

func TestCauses(t *testing.T) {
	policy := func(name string, validations ...v1.Validation) *v1.ValidatingAdmissionPolicy {
		return policytest.Validating(name, v1.ValidatingAdmissionPolicySpec{Validations: validations})
	}
	cause := func(message, field string) metav1.StatusCause {
		return metav1.StatusCause{Type: metav1.CauseTypeFieldValueInvalid, Message: "ValidatingAdmissionPolicy " + message, Field: field}
	}
	forbidden := about("forbidden", "")
	forbidden.Reason = new(metav1.StatusReasonForbidden)
	unevaluated := v1.Validation{Expression: failing, FieldPath: new("spec.missing")}
	ignoring := unevaluated
	ignoring.FailurePolicy = new(v1.Ignore)
	const missing = "expression 'object.spec.missing == 1' resulted in error: no such key: missing"
	for name, test := range map[string]struct {
		objects []any
		want    []metav1.StatusCause
	}{
		"policies, bindings and validations in order": {
			[]any{
				policy("b", about("third", "spec.replicas")), policytest.Binding("only", "b"),
				policy("a", about("first", "spec"), v1.Validation{Expression: "true"}, about("second", "")), policytest.Binding("x", "a"), policytest.Binding("y", "a"),
			},
			[]metav1.StatusCause{
				cause("'a' with binding 'x' denied request: first", "spec"), cause("'a' with binding 'x' denied request: second", ""),
				cause("'a' with binding 'y' denied request: first", "spec"), cause("'a' with binding 'y' denied request: second", ""),
				cause("'b' with binding 'only' denied request: third", "spec.replicas"),
			},
		},
		"only what denies": {
			[]any{
				policy("p", ignoring, about("no", "spec")), policytest.Binding("audits", "p", v1.Audit, v1.Warn), policytest.Binding("denies", "p", v1.Audit, v1.Deny),
			},
			[]metav1.StatusCause{cause("'p' with binding 'denies' denied request: no", "spec")},
		},
		"paths of every form": {
			[]any{policy("p", about("1", ".spec.replicas"), about("2", "metadata.labels['a']"), about("3", `metadata.annotations["example.com/it's"]`), about("4", "what[")), policytest.Binding("b", "p")},
			[]metav1.StatusCause{
				cause("'p' with binding 'b' denied request: 1", "spec.replicas"), cause("'p' with binding 'b' denied request: 2", "metadata.labels.a"),
				cause("'p' with binding 'b' denied request: 3", `metadata.annotations['example.com/it\'s']`), cause("'p' with binding 'b' denied request: 4", ""),
			},
		},
		"errors and other reasons": {
			[]any{
				policy("p", forbidden, unevaluated), policytest.Binding("b", "p"), singleton(policy("s", about("alone", "spec"))),
				policytest.Validating("z", v1.ValidatingAdmissionPolicySpec{MatchConditions: []v1.MatchCondition{{Name: "c", Expression: failing}}, Validations: []v1.Validation{about("never", "spec")}}), policytest.Binding("b2", "z"),
			},
			[]metav1.StatusCause{
				cause("'p' with binding 'b' denied request: forbidden", ""), cause("'p' with binding 'b' denied request: "+missing, "spec.missing"),
				cause("'s' denied request: alone", "spec"), cause("'z' with binding 'b2' denied request: "+missing, ""),
			},
		},
		"a default message": {
			[]any{policy("p", about("", "spec")), policytest.Binding("b", "p")},
			[]metav1.StatusCause{cause("'p' with binding 'b' denied request: failed expression: false", "spec")},
		},
		"a failed messageExpression": {
			[]any{
				policytest.Validating("p", v1.ValidatingAdmissionPolicySpec{Validations: []v1.Validation{{Expression: "false", FieldPath: new("spec"), MessageExpression: "string(object.spec.missing)", Message: "no"}}}), policytest.Binding("b", "p"),
			},
			[]metav1.StatusCause{cause("'p' with binding 'b' denied request: no", "spec")},
		},
	} {
		t.Run(name, func(t *testing.T) {
			on := statusWith(t, causesOn, test.objects...)
			if diff := cmp.Diff(test.want, on.Details.Causes); diff != "" {
				t.Errorf("causes (-want +got):\n%s", diff)
			}
			// Without the feature, the answer is that of Kubernetes, and differs in the causes only.
			off := statusWith(t, policyspec.Features{policyspec.Singleton: true, policyspec.ValidationFailurePolicy: true}, test.objects...)
			if diff := cmp.Diff([]metav1.StatusCause{{Message: test.want[0].Message}}, off.Details.Causes); diff != "" {
				t.Errorf("causes without the feature (-want +got):\n%s", diff)
			}
			on.Details.Causes = off.Details.Causes
			if diff := cmp.Diff(off, on); diff != "" {
				t.Errorf("the feature changes more than the causes (-without +with):\n%s", diff)
			}
		})
	}
}

// A response lists at most 50 denials and about 64 KiB of them, whatever policies do, and says how
// many it leaves out. The first denial is always there.
func TestCausesAreBounded(t *testing.T) {
	const most = 64 << 10
	for name, test := range map[string]struct {
		denials, bytes, listed int
	}{
		"50":                 {50, 10, 50},
		"51":                 {51, 10, 50},
		"10,000":             {10_000, 10, 50},
		"10,000 of 5 KiB":    {10_000, 5 << 10, 12},
		"one of 128 KiB":     {1, 2 * most, 1},
		"several of 128 KiB": {3, 2 * most, 1},
	} {
		t.Run(name, func(t *testing.T) {
			validations := make([]v1.Validation, test.denials)
			for i := range validations {
				validations[i] = about(fmt.Sprint(i)+strings.Repeat("x", test.bytes), "spec.replicas")
			}
			status := statusWith(t, causesOn, policytest.Validating("p", v1.ValidatingAdmissionPolicySpec{Validations: validations}), policytest.Binding("b", "p"))
			causes := status.Details.Causes
			if left := test.denials - test.listed; left > 0 {
				want := metav1.StatusCause{Message: fmt.Sprintf("%d more denials are left out", left)}
				if got := causes[len(causes)-1]; got != want {
					t.Errorf("the last cause is %.200q, want %q", got.Message, want.Message)
				}
				causes = causes[:len(causes)-1]
			}
			if len(causes) != test.listed {
				t.Errorf("%d denials are listed, want %d", len(causes), test.listed)
			}
			for i, c := range causes {
				if !strings.Contains(c.Message, fmt.Sprintf("request: %dx", i)) {
					t.Errorf("cause %d is not of denial %d", i, i)
				}
			}
			text, err := json.Marshal(status)
			if err != nil {
				t.Fatal(err)
			}
			if largest := max(most, test.bytes) + test.bytes + 64*100; len(text) > largest {
				t.Errorf("the response has %d bytes, more than %d", len(text), largest)
			}
		})
	}
}

// BenchmarkDenial evaluates policies that all deny the request, and makes the error, without the
// feature and with it; and policies that admit it.
func BenchmarkDenial(b *testing.B) {
	for _, expression := range []string{"object.spec.replicas > 100", "object.spec.replicas < 100"} {
		for _, policies := range []int{1, 10, 100} {
			for _, features := range []policyspec.Features{nil, causesOn} {
				b.Run(fmt.Sprintf("%s/%d/causes=%t", map[bool]string{true: "denied", false: "admitted"}[strings.Contains(expression, ">")], policies, features != nil), func(b *testing.B) {
					server := newServer()
					engine := validating.NewEngine(validating.Config{Features: features, Namespaces: server})
					s := engine.NewStore()
					for i := range policies {
						name := fmt.Sprintf("p%03d", i)
						p := policytest.Validating(name, v1.ValidatingAdmissionPolicySpec{Validations: []v1.Validation{{Expression: expression, Message: "too few replicas", FieldPath: new("spec.replicas")}}})
						if err := s.Set(p, policytest.Binding(name, name)); err != nil {
							b.Fatal(err)
						}
					}
					request, snapshot := create(9), s.Snapshot()
					b.ReportAllocs()
					for b.Loop() {
						result, err := engine.Evaluate(b.Context(), request, server, snapshot)
						if err != nil {
							b.Fatal(err)
						}
						_ = result.Err()
						result.Free()
					}
				})
			}
		}
	}
}
