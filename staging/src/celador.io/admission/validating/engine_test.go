// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package validating_test

import (
	"sync"
	"testing"

	v1 "celador.io/api/admissionregistration/v1"
	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/admission"

	"celador.io/admission/validating"
)

// narrowed is a binding that adds match resources to its policy's.
func narrowed(name, policy string, m *v1.MatchResources) *v1.ValidatingAdmissionPolicyBinding {
	b := bindingOf(name, policy)
	b.Spec.MatchResources = m
	return b
}

func inNamespaces(color string) *v1.MatchResources {
	m := match()
	m.NamespaceSelector = &metav1.LabelSelector{MatchLabels: map[string]string{"color": color}}
	return m
}

// through returns how decisions on a policy "p" came about: through which bindings.
func through(decisions []validating.Decision) []string {
	var result []string
	for _, d := range decisions {
		result = append(result, d.Binding)
	}
	return result
}

func TestConstraintsAndBindings(t *testing.T) {
	withObjects := match()
	withObjects.ObjectSelector = &metav1.LabelSelector{MatchLabels: map[string]string{"app": "shop"}}
	excluding := match()
	excluding.ExcludeResourceRules = []v1.NamedRuleWithOperations{rule(deployments)}
	for name, test := range map[string]struct {
		constraints *v1.MatchResources
		bindings    []*v1.ValidatingAdmissionPolicyBinding
		want        []string
	}{
		"everything":            {match(), []*v1.ValidatingAdmissionPolicyBinding{bindingOf("b", "p")}, []string{"b"}},
		"resource":              {match(rule(deployments)), []*v1.ValidatingAdmissionPolicyBinding{bindingOf("b", "p")}, []string{"b"}},
		"other resource":        {match(rule(pods)), []*v1.ValidatingAdmissionPolicyBinding{bindingOf("b", "p")}, nil},
		"excluded resource":     {excluding, []*v1.ValidatingAdmissionPolicyBinding{bindingOf("b", "p")}, nil},
		"namespace":             {inNamespaces("blue"), []*v1.ValidatingAdmissionPolicyBinding{bindingOf("b", "p")}, []string{"b"}},
		"other namespace":       {inNamespaces("red"), []*v1.ValidatingAdmissionPolicyBinding{bindingOf("b", "p")}, nil},
		"other object":          {withObjects, []*v1.ValidatingAdmissionPolicyBinding{bindingOf("b", "p")}, nil},
		"bound for namespaces":  {match(), []*v1.ValidatingAdmissionPolicyBinding{narrowed("a", "p", inNamespaces("red")), narrowed("b", "p", inNamespaces("blue"))}, []string{"b"}},
		"bound for resources":   {match(), []*v1.ValidatingAdmissionPolicyBinding{narrowed("a", "p", match(rule(pods))), narrowed("b", "p", match(rule(deployments)))}, []string{"b"}},
		"bound for a version":   {match(rule(deployments)), []*v1.ValidatingAdmissionPolicyBinding{narrowed("a", "p", match(rule(legacyDeployments)))}, []string{"a"}},
		"bound for exclusions":  {match(), []*v1.ValidatingAdmissionPolicyBinding{narrowed("a", "p", excluding)}, nil},
		"bound twice":           {match(), []*v1.ValidatingAdmissionPolicyBinding{bindingOf("b", "p"), bindingOf("a", "p")}, []string{"a", "b"}},
		"bound for more":        {match(rule(pods)), []*v1.ValidatingAdmissionPolicyBinding{narrowed("a", "p", match(rule(deployments)))}, nil},
		"bound, other policy":   {match(), []*v1.ValidatingAdmissionPolicyBinding{bindingOf("b", "q")}, nil},
		"selectors left unset":  {&v1.MatchResources{}, []*v1.ValidatingAdmissionPolicyBinding{narrowed("b", "p", &v1.MatchResources{})}, []string{"b"}},
		"not bound to anything": {match(), nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			s := store(policyOf("p", v1.ValidatingAdmissionPolicySpec{MatchConstraints: test.constraints, Validations: validate("false")}))
			for _, b := range test.bindings {
				s.SetBinding(b)
			}
			got := through(evaluate(t, newServer(), create(1), s.Snapshot()).Decisions())
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("bindings differ (-want +got):\n%s", diff)
			}
		})
	}
}

func TestMisconfigured(t *testing.T) {
	invalid := match()
	invalid.ObjectSelector = &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "a", Operator: "Resembles"}}}
	const notValid = `Internal error occurred: "Resembles" is not a valid label selector operator`
	bare := policyOf("p", v1.ValidatingAdmissionPolicySpec{Validations: validate("false")})
	bare.Spec.MatchConstraints = nil
	for name, test := range map[string]struct {
		policy  *v1.ValidatingAdmissionPolicy
		binding *v1.ValidatingAdmissionPolicyBinding
		want    []validating.Decision
	}{
		"policy": {
			policyOf("p", v1.ValidatingAdmissionPolicySpec{MatchConstraints: invalid, Validations: validate("false")}), bindingOf("b", "p", v1.Warn),
			[]validating.Decision{{Policy: "p", Message: "failed to configure policy: " + notValid}},
		},
		"binding": {
			policyOf("p", v1.ValidatingAdmissionPolicySpec{Validations: validate("false")}), narrowed("b", "p", invalid),
			[]validating.Decision{{Policy: "p", Binding: "b", Message: "failed to configure binding: " + notValid}},
		},
		"policy without constraints": {
			bare, bindingOf("b", "p"),
			[]validating.Decision{{Policy: "p", Message: "failed to configure policy: policy contained no match constraints, a required field"}},
		},
		"policy without a binding": {
			policyOf("p", v1.ValidatingAdmissionPolicySpec{MatchConstraints: invalid}), bindingOf("b", "q"), nil,
		},
	} {
		for _, failurePolicy := range []v1.FailurePolicyType{v1.Fail, v1.Ignore} {
			t.Run(name+", "+string(failurePolicy), func(t *testing.T) {
				policy := test.policy.DeepCopy()
				policy.Spec.FailurePolicy = &failurePolicy
				var want []validating.Decision
				for _, d := range test.want {
					d.Outcome, d.Actions, d.Ignored = validating.Misconfigured, []v1.ValidationAction{v1.Deny}, failurePolicy == v1.Ignore
					want = append(want, d)
				}
				wantDecisions(t, evaluate(t, newServer(), create(1), store(policy, test.binding).Snapshot()).Decisions(), want)
			})
		}
	}
}

// One binding that cannot be applied leaves the others in effect.
func TestMisconfiguredAmongOthers(t *testing.T) {
	snapshot := store(
		policyOf("p", v1.ValidatingAdmissionPolicySpec{Validations: validate("false")}),
		bindingOf("a", "p"),
		narrowed("b", "p", &v1.MatchResources{NamespaceSelector: &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "a", Operator: "Resembles"}}}}),
		bindingOf("c", "p")).Snapshot()
	got := evaluate(t, newServer(), create(1), snapshot).Decisions()
	want := []validating.Outcome{validating.Denied, validating.Misconfigured, validating.Denied}
	if len(got) != len(want) {
		t.Fatalf("decisions are %+v", got)
	}
	for i, d := range got {
		if d.Outcome != want[i] {
			t.Errorf("through %s: %s, want %s", d.Binding, d.Outcome, want[i])
		}
	}
}

func TestAbsentNamespace(t *testing.T) {
	nowhere := admission.NewAttributesRecord(deploy(1), nil, deployment, "nowhere", "web", deployments, "", admission.Create, nil, false, jane)
	s := newServer()
	engine := validating.NewEngine(validating.Config{Namespaces: s, Authorizer: s})

	unaffected := store(policyOf("p", v1.ValidatingAdmissionPolicySpec{MatchConstraints: match(rule(pods)), Validations: validate("false")}), bindingOf("b", "p")).Snapshot()
	if got, err := engine.Evaluate(t.Context(), nowhere, s, unaffected); err != nil || got.Decisions() != nil || s.namespaces != 0 {
		t.Errorf("without a policy that matches: %+v, error %v, %d namespaces looked up", got, err, s.namespaces)
	}

	// The namespace is needed even when no expression reads it, and whatever the failure policy.
	affected := store(policyOf("p", v1.ValidatingAdmissionPolicySpec{FailurePolicy: new(v1.Ignore), Validations: validate("true")}), bindingOf("b", "p")).Snapshot()
	got, err := engine.Evaluate(t.Context(), nowhere, s, affected)
	if !apierrors.IsNotFound(err) || err.Error() != `namespaces "nowhere" not found` {
		t.Errorf("error is %v", err)
	}
	if got.Decisions() != nil || got.Annotations != nil {
		t.Errorf("a result in spite of the error: %+v", got)
	}

	selected := store(policyOf("p", v1.ValidatingAdmissionPolicySpec{MatchConstraints: inNamespaces("blue"), Validations: validate("true")}), bindingOf("b", "p")).Snapshot()
	got, err = engine.Evaluate(t.Context(), nowhere, s, selected)
	if err != nil {
		t.Fatal(err)
	}
	wantDecisions(t, got.Decisions(), []validating.Decision{{Policy: "p", Actions: []v1.ValidationAction{v1.Deny}, Outcome: validating.Misconfigured, Message: `failed to configure policy: namespaces "nowhere" not found`}})
}

// However many bindings a policy has, it is evaluated once; each policy asks the
// authorizer only what none before asked.
func TestSharedEvaluation(t *testing.T) {
	policy := v1.ValidatingAdmissionPolicySpec{
		Validations:      []v1.Validation{{Expression: "authorizer.requestResource.check('write').allowed()", Message: "no"}},
		AuditAnnotations: []v1.AuditAnnotation{{Key: "k", ValueExpression: "'noted'"}},
	}
	s := newServer()
	got := evaluate(t, s, create(1), store(
		policyOf("p", policy), bindingOf("a", "p", v1.Deny), bindingOf("b", "p", v1.Warn), bindingOf("c", "p", v1.Audit, v1.Warn),
		policyOf("q", policy), bindingOf("d", "q")).Snapshot())
	var want []validating.Decision
	for _, b := range []struct {
		policy, name string
		actions      []v1.ValidationAction
	}{{"p", "a", []v1.ValidationAction{v1.Deny}}, {"p", "b", []v1.ValidationAction{v1.Warn}}, {"p", "c", []v1.ValidationAction{v1.Audit, v1.Warn}}, {"q", "d", []v1.ValidationAction{v1.Deny}}} {
		want = append(want, validating.Decision{Policy: b.policy, Binding: b.name, Actions: b.actions, Outcome: validating.Denied, Message: "no", Reason: metav1.StatusReasonInvalid})
	}
	wantDecisions(t, got.Decisions(), want)
	for _, d := range got.Decisions()[:3] {
		if d.Elapsed != got.Decisions()[0].Elapsed {
			t.Errorf("binding %s has an evaluation of its own", d.Binding)
		}
	}
	if s.checks != 1 {
		t.Errorf("the authorizer was asked %d times, want 1", s.checks)
	}
	if diff := cmp.Diff([]validating.Annotation{{Key: "p/k", Value: "noted"}, {Key: "q/k", Value: "noted"}}, got.Annotations); diff != "" {
		t.Errorf("annotations differ (-want +got):\n%s", diff)
	}
}

func TestWithoutAuthorizer(t *testing.T) {
	s := newServer()
	policy := policyOf("p", v1.ValidatingAdmissionPolicySpec{Validations: validate("authorizer.requestResource.check('read').allowed()", "true")})
	got, err := validating.NewEngine(validating.Config{Namespaces: s}).Evaluate(t.Context(), create(1), s, store(policy, bindingOf("b", "p")).Snapshot())
	if err != nil {
		t.Fatal(err)
	}
	wantDecisions(t, got.Decisions(), []validating.Decision{
		failed(0, "expression 'authorizer.requestResource.check('read').allowed()' resulted in error: no such attribute(s): authorizer.requestResource"),
		admitted(1),
	})
}

func TestEvaluateConcurrently(t *testing.T) {
	snapshot := store(
		policyOf("p", v1.ValidatingAdmissionPolicySpec{
			MatchConstraints: match(rule(legacyDeployments)),
			Variables:        []v1.Variable{{Name: "few", Expression: few}},
			MatchConditions:  []v1.MatchCondition{{Name: "c", Expression: "request.operation == 'CREATE'"}},
			Validations:      []v1.Validation{{Expression: "variables.few", MessageExpression: "string(object.spec.replicas)"}},
			AuditAnnotations: []v1.AuditAnnotation{{Key: "k", ValueExpression: "string(variables.few)"}},
		}),
		bindingOf("b", "p")).Snapshot()
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for range 20 {
				wantDecisions(t, evaluate(t, newServer(), create(9), snapshot).Decisions(), []validating.Decision{denied(0, "9")})
				wantDecisions(t, evaluate(t, newServer(), create(3), snapshot).Decisions(), []validating.Decision{admitted(0)})
			}
		})
	}
	group.Wait()
}
