// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package validating_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	v1 "celador.io/api/admissionregistration/v1"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/client-go/kubernetes/scheme"

	"celador.io/admission/cel/expression"
	"celador.io/admission/policytest"
	"celador.io/admission/validating"
)

// evaluations records the evaluations of programs, with the values of their root nodes.
type evaluations struct {
	fields map[*expression.Program]string
	seen   []string
}

func (e *evaluations) Compiled(policy, path string, program *expression.Program) {
	e.fields[program] = policy + " " + path
}

func (e *evaluations) Evaluated(_ context.Context, program *expression.Program, steps []expression.Step, _ uint64) {
	root := program.Traced().Expr().ID()
	for _, step := range steps {
		if step.ID == root {
			e.seen = append(e.seen, fmt.Sprintf("%s %s: %v", e.fields[program], program.Source(), step.Value))
		}
	}
}

// TestTracer compares the results of a traced engine with those of another one, and with what the
// tracer sees.
func TestTracer(t *testing.T) {
	policy := func(name string) *v1.ValidatingAdmissionPolicy {
		return policytest.Validating(name, v1.ValidatingAdmissionPolicySpec{
			MatchConditions: []v1.MatchCondition{{Name: "named", Expression: "object.metadata.name != ''"}},
			Variables:       []v1.Variable{{Name: "tier", Expression: "object.metadata.?labels.tier.orValue('none')"}, {Name: "unread", Expression: "1"}},
			Validations: []v1.Validation{
				{Expression: "variables.tier in ['a', 'b'] || object.metadata.name == 'x'", MessageExpression: "'tier ' + variables.tier"},
				{Expression: "variables.tier != 'none'"},
				{Expression: "variables.tier != 'none'"},
				{Expression: "object.metadata.absent == 1"},
			},
			AuditAnnotations: []v1.AuditAnnotation{{Key: "k", ValueExpression: "object.metadata.name == 'n1' ? 'first' : null"}},
		})
	}
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n1", Labels: map[string]string{"tier": "c"}}}
	request := admission.NewAttributesRecord(node, nil, corev1.SchemeGroupVersion.WithKind("Node"), "", node.Name,
		corev1.SchemeGroupVersion.WithResource("nodes"), "", admission.Create, &metav1.CreateOptions{}, false, nil)
	evaluate := func(compiler *expression.Compiler) []string {
		engine := validating.NewEngine(validating.Config{Compiler: compiler})
		snapshot, err := engine.NewSnapshot(policy("p1"), policytest.Binding("b1", "p1"), policy("p2"), policytest.Binding("b2", "p2"))
		if err != nil {
			t.Fatal(err)
		}
		result, err := engine.Evaluate(t.Context(), request, admission.NewObjectInterfacesFromScheme(scheme.Scheme), snapshot)
		if err != nil {
			t.Fatal(err)
		}
		var decisions []string
		for _, d := range result.Decisions() {
			decisions = append(decisions, fmt.Sprint(d.Policy, d.Index, d.Outcome, d.Message))
		}
		return decisions
	}
	traced := &evaluations{fields: map[*expression.Program]string{}}
	if diff := cmp.Diff(evaluate(expression.Default()), evaluate(expression.Default().Traced(traced))); diff != "" {
		t.Errorf("decisions without tracer (-) and with it (+):\n%s", diff)
	}
	var want []string
	for _, p := range []string{"p1", "p2"} {
		want = append(want,
			p+" spec.matchConditions[0].expression object.metadata.name != '': true",
			p+" spec.variables[0].expression object.metadata.?labels.tier.orValue('none'): c",
			p+" spec.validations[0].expression variables.tier in ['a', 'b'] || object.metadata.name == 'x': false",
			p+" spec.validations[1].expression variables.tier != 'none': true",
			p+" spec.validations[2].expression variables.tier != 'none': true",
			p+" spec.validations[3].expression object.metadata.absent == 1: no such key: absent",
			p+" spec.auditAnnotations[0].valueExpression object.metadata.name == 'n1' ? 'first' : null: first",
			// Messages evaluate variables again.
			p+" spec.variables[0].expression object.metadata.?labels.tier.orValue('none'): c",
			p+" spec.validations[0].messageExpression 'tier ' + variables.tier: tier c",
		)
	}
	slices.Sort(want)
	slices.Sort(traced.seen)
	if diff := cmp.Diff(want, traced.seen); diff != "" {
		t.Errorf("evaluations (-want +got):\n%s", diff)
	}
	if len(traced.fields) != 2*9 {
		t.Errorf("%d expressions compiled, want those of both policies: %v", len(traced.fields), traced.fields)
	}
}
