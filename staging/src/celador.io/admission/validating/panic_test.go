// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package validating_test

import (
	"bytes"
	"context"
	"strings"
	"testing"

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

	"celador.io/admission/cel/celtest"
	"celador.io/admission/cel/expression"
	"celador.io/admission/panics"
	"celador.io/admission/policytest"
	"celador.io/admission/validating"
	v1 "celador.io/api/admissionregistration/v1"
)

// An exploding authorizer panics, each time or once for each request.
type exploding struct {
	once  bool
	calls int
}

func (e *exploding) Authorize(context.Context, authorizer.Attributes) (authorizer.Decision, string, error) {
	if e.calls++; !e.once || e.calls%2 == 1 {
		panic("no luck")
	}
	return authorizer.DecisionDeny, "", nil
}

func explode(ref.Val) ref.Val { panic("no luck") }

// An expression that panics fails the validation. Each panic counts. The first one of an expression
// is logged with its stack and with the expression, right after the panic of another expression,
// too.
func TestPanicLeavesATrace(t *testing.T) {
	celtest.ExpectPanics(t)
	base, err := environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion()).Extend(environment.VersionedOptions{
		IntroducedVersion: version.MajorMinor(1, 0),
		EnvOptions:        []cel.EnvOption{cel.Function("explode", cel.Overload("explode_string", []*cel.Type{cel.StringType}, cel.BoolType, cel.UnaryBinding(explode)))},
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name, source string
		authorizer   exploding
		stack, want  string
		component    panics.Component
	}{
		{"in the evaluator and in cel-go", "authorizer.group('').resource('pods').check('get').allowed()", exploding{}, "validating_test.(*exploding).Authorize", "internal error: no luck", panics.Interpreter},
		{"in the evaluator alone", "authorizer.group('').resource('nodes').check('get').allowed()", exploding{once: true}, "validating_test.(*exploding).Authorize", "failed expression", panics.Evaluator},
		{"in cel-go alone", "explode(string(object.metadata.name))", exploding{}, "validating_test.explode", "internal error: no luck", panics.Interpreter},
	} {
		t.Run(test.name, func(t *testing.T) {
			testPanic(t, expression.NewCompiler(base), test.source, &test.authorizer, test.stack, test.want, test.component)
		})
	}
}

func testPanic(t *testing.T, compiler *expression.Compiler, source string, authorizer *exploding, stack, want string, component panics.Component) {
	var log bytes.Buffer
	klog.SetLogger(textlogger.NewLogger(textlogger.NewConfig(textlogger.Output(&log))))
	t.Cleanup(klog.ClearLogger)
	policy := policytest.Validating("p", v1.ValidatingAdmissionPolicySpec{MatchConstraints: policytest.Everything(), Validations: policytest.Validations(source)})
	engine := validating.NewEngine(validating.Config{Compiler: compiler, Authorizer: authorizer})
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
		if err := result.Err(); err == nil || !strings.Contains(err.Error(), want) {
			t.Fatalf("got %v", err)
		}
	}
	for counted, after := range recovered() {
		expected := uint64(0)
		if counted == component {
			expected = 3
		}
		if got := after - before[counted]; got != expected {
			t.Errorf("%s: counted %d panics, want %d", counted, got, expected)
		}
	}
	for _, want := range []string{stack, `expression="` + source + `"`, `component="` + component.String() + `"`} {
		if strings.Count(log.String(), want) != 1 {
			t.Errorf("the log does not have %s once:\n%s", want, &log)
		}
	}
}

func recovered() map[panics.Component]uint64 {
	counts := map[panics.Component]uint64{}
	panics.Counts(func(component panics.Component, recovered uint64) { counts[component] = recovered })
	return counts
}
