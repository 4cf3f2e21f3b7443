// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package validating_test

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types/ref"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/apiserver/pkg/cel/environment"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/klog/v2"
	"k8s.io/klog/v2/textlogger"

	"celador.io/admission/expression"
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

// years is the time of the next test in years.
var years int

func explode(ref.Val) ref.Val { panic("no luck") }

// An expression that panics fails the validation. The panic counts, and is logged with its stack and with the expression.
func TestPanicLeavesATrace(t *testing.T) {
	base, err := environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion()).Extend(environment.VersionedOptions{
		IntroducedVersion: version.MajorMinor(1, 0),
		EnvOptions:        []cel.EnvOption{cel.Function("explode", cel.Overload("explode_string", []*cel.Type{cel.StringType}, cel.BoolType, cel.UnaryBinding(explode)))},
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name, source, stack string
		components          []panics.Component
	}{
		{"in the evaluator", "authorizer.group('').resource('pods').check('get').allowed()", "validating_test.exploding.Authorize", []panics.Component{panics.Evaluator, panics.Interpreter}},
		{"in cel-go alone", "explode(string(object.metadata.name))", "validating_test.explode", []panics.Component{panics.Interpreter}},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				// Panics of an earlier test, in its time, would keep these out of the log.
				years++
				time.Sleep(time.Until(time.Now().AddDate(years, 0, 0)))
				testPanic(t, expression.NewCompiler(base), test.source, test.stack, test.components)
			})
		})
	}
}

func testPanic(t *testing.T, compiler *expression.Compiler, source, stack string, components []panics.Component) {
	var log bytes.Buffer
	klog.SetLogger(textlogger.NewLogger(textlogger.NewConfig(textlogger.Output(&log))))
	t.Cleanup(klog.ClearLogger)
	policy := policytest.Validating("p", v1.ValidatingAdmissionPolicySpec{MatchConstraints: policytest.Everything(), Validations: policytest.Validations(source)})
	engine := validating.NewEngine(validating.Config{Compiler: compiler, Authorizer: exploding{}})
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
	for _, component := range components {
		if got := after[component] - before[component]; got != 3 {
			t.Errorf("%s: counted %d panics, want 3", component, got)
		}
	}
	if got := strings.Count(log.String(), stack); got != len(components) {
		t.Errorf("the log has %d stacks with %s, want %d:\n%s", got, stack, len(components), &log)
	}
	if want := `expression="` + source + `"`; strings.Count(log.String(), want) != 1 {
		t.Errorf("the log does not have %s once:\n%s", want, &log)
	}
}

func recovered() map[panics.Component]uint64 {
	counts := map[panics.Component]uint64{}
	panics.Counts(func(component panics.Component, recovered uint64) { counts[component] = recovered })
	return counts
}
