// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package matchconditions_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/cel-go/interpreter"
	v1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/authentication/user"

	"celador.io/admission/cel/expression"
	"celador.io/admission/internal/activation"
	"celador.io/admission/internal/matchconditions"
	"celador.io/admission/matching"
	"celador.io/admission/policyspec"
)

// series evaluates conditions on the creation of a pod, with the given budget.
func series(ctx context.Context, budget int64) *expression.Series {
	pod := &corev1.Pod{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}, ObjectMeta: metav1.ObjectMeta{Name: "web"}}
	kind, resource := pod.GroupVersionKind(), corev1.SchemeGroupVersion.WithResource("pods")
	a := admission.NewAttributesRecord(pod, nil, kind, "blue", "web", resource, "", admission.Create, nil, false, &user.DefaultInfo{Name: "jane"})
	input := activation.NewInput(a, &matching.Target{Resource: resource, Kind: kind}, pod, nil, nil, nil)
	return new(activation.Memory).Begin(ctx, activation.Subject{Input: input}, policyspec.MatchCondition, nil, budget)
}

func TestCheck(t *testing.T) {
	const (
		yes    = "object.metadata.name == 'web' && oldObject == null"
		no     = "request.userInfo.username == 'jack'"
		failed = "object.metadata.labels.team == 'blue'"
		wrong  = "no such thing"
	)
	for name, test := range map[string]struct {
		conditions []string
		want       matchconditions.Result
		// err is a part of the error's text, and empty for no error.
		err string
	}{
		"none":                   {},
		"all true":               {conditions: []string{yes, yes}},
		"one false":              {conditions: []string{yes, no, no}, want: matchconditions.Result{Excluded: true, Condition: "1"}},
		"error":                  {conditions: []string{failed, yes}, want: matchconditions.Result{Errors: 1}, err: "no such key: labels"},
		"two errors":             {conditions: []string{failed, wrong}, want: matchconditions.Result{Errors: 2}, err: "compilation error: "},
		"false before an error":  {conditions: []string{no, failed}, want: matchconditions.Result{Excluded: true, Condition: "0"}},
		"false after an error":   {conditions: []string{failed, wrong, no}, want: matchconditions.Result{Excluded: true, Condition: "2", Errors: 2}},
		"too large":              {conditions: []string{"quantity('1e-999999999') == quantity('1') || true"}, want: matchconditions.Result{Errors: 1}, err: "exceeds the limit of 1000"},
		"false, then too costly": {conditions: []string{no, "[" + strings.Repeat("1,", 500) + "1].all(x, x == 1)"}, err: "running out of cost budget"},
	} {
		t.Run(name, func(t *testing.T) {
			var conditions []v1.MatchCondition
			for i, e := range test.conditions {
				conditions = append(conditions, v1.MatchCondition{Name: string(rune('0' + i)), Expression: e})
			}
			got := matchconditions.Compile(expression.Default(), conditions).Check(series(t.Context(), 1000))
			if (got.Err != nil) != (test.err != "") || got.Err != nil && !strings.Contains(got.Err.Error(), test.err) {
				t.Errorf("error is %v, want one with %q", got.Err, test.err)
			}
			got.Err = nil
			if got != test.want {
				t.Errorf("result is %+v, want %+v", got, test.want)
			}
		})
	}
}

// The error of an interrupted condition is distinguishable from other errors.
func TestInterruption(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for name, test := range map[string]struct {
		ctx  context.Context
		want bool
	}{
		"interrupted": {ctx, true},
		"not":         {t.Context(), false},
	} {
		t.Run(name, func(t *testing.T) {
			conditions := matchconditions.Compile(expression.Default(), []v1.MatchCondition{
				{Name: "fails", Expression: "object.metadata.labels.team == 'blue'"},
				{Name: "long", Expression: "lists.range(5000).all(i, i >= 0)"},
			})
			err := conditions.Check(series(test.ctx, 100000)).Err
			if err == nil || errors.Is(err, interpreter.InterruptError{}) != test.want {
				t.Errorf("error is %v, want one that an interruption causes: %t", err, test.want)
			}
		})
	}
}
