// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package validating_test

import (
	"bytes"
	"context"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/klog/v2"
	"k8s.io/klog/v2/textlogger"

	"celador.io/admission/panics"
	"celador.io/admission/policytest"
	"celador.io/admission/validating"
	v1 "celador.io/api/admissionregistration/v1"
)

// An exploding authorizer panics.
type exploding struct{}

func (exploding) Authorize(context.Context, authorizer.Attributes) (authorizer.Decision, string, error) {
	panic("no luck")
}

// A function that panics fails the validation, counts, and is logged with its stack and with the expression.
func TestPanicLeavesATrace(t *testing.T) {
	var log bytes.Buffer
	klog.SetLogger(textlogger.NewLogger(textlogger.NewConfig(textlogger.Output(&log))))
	t.Cleanup(klog.ClearLogger)
	const source = "authorizer.group('').resource('pods').check('get').allowed()"
	policy := policytest.Validating("p", v1.ValidatingAdmissionPolicySpec{
		MatchConstraints: policytest.Everything(), Validations: policytest.Validations(source),
	})
	engine := validating.NewEngine(validating.Config{Authorizer: exploding{}})
	snapshot, err := engine.NewSnapshot(policy, policytest.Binding("b", "p", v1.Deny))
	if err != nil {
		t.Fatal(err)
	}
	before := recovered()
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n1"}}
	for range 3 {
		request := admission.NewAttributesRecord(node, nil, corev1.SchemeGroupVersion.WithKind("Node"), "", node.Name,
			corev1.SchemeGroupVersion.WithResource("nodes"), "", admission.Create, &metav1.CreateOptions{}, false, &user.DefaultInfo{Name: "jane"})
		result, err := engine.Evaluate(t.Context(), request, admission.NewObjectInterfacesFromScheme(scheme.Scheme), snapshot)
		if err != nil {
			t.Fatal(err)
		}
		if err := result.Err(); err == nil || !strings.Contains(err.Error(), "internal error: no luck") {
			t.Fatalf("got %v", err)
		}
	}
	after := recovered()
	for _, component := range []panics.Component{panics.Evaluator, panics.Interpreter} {
		if got := after[component] - before[component]; got != 3 {
			t.Errorf("%s: counted %d panics, want 3", component, got)
		}
	}
	for _, want := range []string{"validating_test.exploding.Authorize", `expression="` + source + `"`} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("the log has no %s:\n%s", want, &log)
		}
	}
	if got := strings.Count(log.String(), "Recovered from a panic"); got != 2 {
		t.Errorf("logged %d lines, want one for each component", got)
	}
}

func recovered() map[panics.Component]uint64 {
	counts := map[panics.Component]uint64{}
	panics.Counts(func(component panics.Component, recovered uint64) { counts[component] = recovered })
	return counts
}
