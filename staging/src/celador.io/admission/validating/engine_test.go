// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package validating_test

import (
	"sync"
	"testing"

	"celador.io/admission/policy"
	"celador.io/admission/policytest"

	v1 "celador.io/api/admissionregistration/v1"
	"github.com/google/go-cmp/cmp"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/admission"

	"celador.io/admission/validating"
)

// narrowed is a binding that adds match resources to its policy's.
func narrowed(name, policy string, m *v1.MatchResources) *v1.ValidatingAdmissionPolicyBinding {
	b := policytest.Binding(name, policy)
	b.Spec.MatchResources = m
	return b
}

func inNamespaces(color string) *v1.MatchResources {
	m := policytest.Match(v1.Equivalent)
	m.NamespaceSelector = &metav1.LabelSelector{MatchLabels: map[string]string{"color": color}}
	return m
}

// bindingNames returns the names of the bindings of the decisions.
func bindingNames(decisions []validating.Decision) []string {
	var result []string
	for _, d := range decisions {
		result = append(result, d.Binding)
	}
	return result
}

func TestConstraintsAndBindings(t *testing.T) {
	withObjects := policytest.Match(v1.Equivalent)
	withObjects.ObjectSelector = &metav1.LabelSelector{MatchLabels: map[string]string{"app": "shop"}}
	excluding := policytest.Match(v1.Equivalent)
	excluding.ExcludeResourceRules = []v1.NamedRuleWithOperations{ruleFor(deployments)}
	for name, test := range map[string]struct {
		constraints *v1.MatchResources
		bindings    []*v1.ValidatingAdmissionPolicyBinding
		want        []string
	}{
		"everything":            {policytest.Match(v1.Equivalent), []*v1.ValidatingAdmissionPolicyBinding{policytest.Binding("b", "p")}, []string{"b"}},
		"resource":              {policytest.Match(v1.Equivalent, ruleFor(deployments)), []*v1.ValidatingAdmissionPolicyBinding{policytest.Binding("b", "p")}, []string{"b"}},
		"other resource":        {policytest.Match(v1.Equivalent, ruleFor(pods)), []*v1.ValidatingAdmissionPolicyBinding{policytest.Binding("b", "p")}, nil},
		"excluded resource":     {excluding, []*v1.ValidatingAdmissionPolicyBinding{policytest.Binding("b", "p")}, nil},
		"namespace":             {inNamespaces("blue"), []*v1.ValidatingAdmissionPolicyBinding{policytest.Binding("b", "p")}, []string{"b"}},
		"other namespace":       {inNamespaces("red"), []*v1.ValidatingAdmissionPolicyBinding{policytest.Binding("b", "p")}, nil},
		"other object":          {withObjects, []*v1.ValidatingAdmissionPolicyBinding{policytest.Binding("b", "p")}, nil},
		"bound for namespaces":  {policytest.Match(v1.Equivalent), []*v1.ValidatingAdmissionPolicyBinding{narrowed("a", "p", inNamespaces("red")), narrowed("b", "p", inNamespaces("blue"))}, []string{"b"}},
		"bound for resources":   {policytest.Match(v1.Equivalent), []*v1.ValidatingAdmissionPolicyBinding{narrowed("a", "p", policytest.Match(v1.Equivalent, ruleFor(pods))), narrowed("b", "p", policytest.Match(v1.Equivalent, ruleFor(deployments)))}, []string{"b"}},
		"bound for a version":   {policytest.Match(v1.Equivalent, ruleFor(deployments)), []*v1.ValidatingAdmissionPolicyBinding{narrowed("a", "p", policytest.Match(v1.Equivalent, ruleFor(legacyDeployments)))}, []string{"a"}},
		"bound for exclusions":  {policytest.Match(v1.Equivalent), []*v1.ValidatingAdmissionPolicyBinding{narrowed("a", "p", excluding)}, nil},
		"bound twice":           {policytest.Match(v1.Equivalent), []*v1.ValidatingAdmissionPolicyBinding{policytest.Binding("b", "p"), policytest.Binding("a", "p")}, []string{"a", "b"}},
		"bound for more":        {policytest.Match(v1.Equivalent, ruleFor(pods)), []*v1.ValidatingAdmissionPolicyBinding{narrowed("a", "p", policytest.Match(v1.Equivalent, ruleFor(deployments)))}, nil},
		"bound, other policy":   {policytest.Match(v1.Equivalent), []*v1.ValidatingAdmissionPolicyBinding{policytest.Binding("b", "q")}, nil},
		"selectors left unset":  {&v1.MatchResources{}, []*v1.ValidatingAdmissionPolicyBinding{narrowed("b", "p", &v1.MatchResources{})}, []string{"b"}},
		"not bound to anything": {policytest.Match(v1.Equivalent), nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			s := store(policytest.Validating("p", v1.ValidatingAdmissionPolicySpec{MatchConstraints: test.constraints, Validations: policytest.Validations("false")}))
			for _, b := range test.bindings {
				s.Set(b)
			}
			got := bindingNames(evaluate(t, newServer(), create(1), s.Snapshot()).Decisions())
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("bindings differ (-want +got):\n%s", diff)
			}
		})
	}
}

func TestMisconfigured(t *testing.T) {
	invalid := policytest.Match(v1.Equivalent)
	invalid.ObjectSelector = &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "a", Operator: "Resembles"}}}
	const notValid = `Internal error occurred: "Resembles" is not a valid label selector operator`
	bare := policytest.Validating("p", v1.ValidatingAdmissionPolicySpec{Validations: policytest.Validations("false")})
	bare.Spec.MatchConstraints = nil
	for name, test := range map[string]struct {
		policy  *v1.ValidatingAdmissionPolicy
		binding *v1.ValidatingAdmissionPolicyBinding
		want    []validating.Decision
	}{
		"policy": {
			policytest.Validating("p", v1.ValidatingAdmissionPolicySpec{MatchConstraints: invalid, Validations: policytest.Validations("false")}), policytest.Binding("b", "p", v1.Warn),
			[]validating.Decision{{Policy: "p", Message: "failed to configure policy: " + notValid}},
		},
		"binding": {
			policytest.Validating("p", v1.ValidatingAdmissionPolicySpec{Validations: policytest.Validations("false")}), narrowed("b", "p", invalid),
			[]validating.Decision{{Policy: "p", Binding: "b", Message: "failed to configure binding: " + notValid}},
		},
		"policy without constraints": {
			bare, policytest.Binding("b", "p"),
			[]validating.Decision{{Policy: "p", Message: "failed to configure policy: policy contained no match constraints, a required field"}},
		},
		"policy without a binding": {
			policytest.Validating("p", v1.ValidatingAdmissionPolicySpec{MatchConstraints: invalid}), policytest.Binding("b", "q"), nil,
		},
	} {
		for _, failurePolicy := range []v1.FailurePolicyType{v1.Fail, v1.Ignore} {
			t.Run(name+", "+string(failurePolicy), func(t *testing.T) {
				policy := test.policy.DeepCopy()
				policy.Spec.FailurePolicy = &failurePolicy
				var want []validating.Decision
				for _, d := range test.want {
					d.Index, d.Outcome, d.Misconfigured, d.Actions, d.Ignored = -1, validating.Failed, true, []v1.ValidationAction{v1.Deny}, failurePolicy == v1.Ignore
					want = append(want, d)
				}
				wantDecisions(t, evaluate(t, newServer(), create(1), store(policy, test.binding).Snapshot()).Decisions(), want)
			})
		}
	}
}

// A binding that cannot be applied does not affect the other bindings of its policy.
func TestMisconfiguredAmongOthers(t *testing.T) {
	snapshot := store(
		policytest.Validating("p", v1.ValidatingAdmissionPolicySpec{Validations: policytest.Validations("false")}),
		policytest.Binding("a", "p"),
		narrowed("b", "p", &v1.MatchResources{NamespaceSelector: &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "a", Operator: "Resembles"}}}}),
		policytest.Binding("c", "p")).Snapshot()
	got := evaluate(t, newServer(), create(1), snapshot).Decisions()
	want := []validating.Outcome{validating.Denied, validating.Failed, validating.Denied}
	if len(got) != len(want) {
		t.Fatalf("decisions are %+v", got)
	}
	for i, d := range got {
		if d.Outcome != want[i] || d.Misconfigured != (i == 1) {
			t.Errorf("through %s: %s, want %s", d.Binding, d.Outcome, want[i])
		}
	}
}

func TestAbsentNamespace(t *testing.T) {
	nowhere := admission.NewAttributesRecord(deploy(1), nil, deployment, "nowhere", "web", deployments, "", admission.Create, nil, false, jane)
	s := newServer()
	engine := validating.NewEngine(validating.Config{Namespaces: s, Authorizer: s})

	unaffected := store(policytest.Validating("p", v1.ValidatingAdmissionPolicySpec{MatchConstraints: policytest.Match(v1.Equivalent, ruleFor(pods)), Validations: policytest.Validations("false")}), policytest.Binding("b", "p")).Snapshot()
	if got, err := engine.Evaluate(t.Context(), nowhere, s, unaffected); err != nil || got.Decisions() != nil || s.namespaces != 0 {
		t.Errorf("without a policy that matches: %+v, error %v, %d namespaces looked up", got, err, s.namespaces)
	}

	// A missing namespace is an error even if no expression reads it, whatever failurePolicy is.
	affected := store(policytest.Validating("p", v1.ValidatingAdmissionPolicySpec{FailurePolicy: new(v1.Ignore), Validations: policytest.Validations("true")}), policytest.Binding("b", "p")).Snapshot()
	got, err := engine.Evaluate(t.Context(), nowhere, s, affected)
	if !apierrors.IsNotFound(err) || err.Error() != `namespaces "nowhere" not found` {
		t.Errorf("error is %v", err)
	}
	if got.Decisions() != nil || got.Annotations != nil {
		t.Errorf("a result in spite of the error: %+v", got)
	}

	selected := store(policytest.Validating("p", v1.ValidatingAdmissionPolicySpec{MatchConstraints: inNamespaces("blue"), Validations: policytest.Validations("true")}), policytest.Binding("b", "p")).Snapshot()
	got, err = engine.Evaluate(t.Context(), nowhere, s, selected)
	if err != nil {
		t.Fatal(err)
	}
	wantDecisions(t, got.Decisions(), []validating.Decision{{Policy: "p", Index: -1, Actions: []v1.ValidationAction{v1.Deny}, Outcome: validating.Failed, Misconfigured: true, Message: `failed to configure policy: namespaces "nowhere" not found`}})
}

// A policy is evaluated once for all of its bindings. All policies share the cached decisions of
// the authorizer.
func TestSharedEvaluation(t *testing.T) {
	spec := v1.ValidatingAdmissionPolicySpec{
		Validations:      []v1.Validation{{Expression: "authorizer.requestResource.check('write').allowed()", Message: "no"}},
		AuditAnnotations: []v1.AuditAnnotation{{Key: "k", ValueExpression: "'noted'"}},
	}
	s := newServer()
	got := evaluate(t, s, create(1), store(
		policytest.Validating("p", spec), policytest.Binding("a", "p", v1.Deny), policytest.Binding("b", "p", v1.Warn), policytest.Binding("c", "p", v1.Audit, v1.Warn),
		policytest.Validating("q", spec), policytest.Binding("d", "q")).Snapshot())
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
	if diff := cmp.Diff([]policy.Annotation{{Key: "p/k", Value: "noted"}, {Key: "q/k", Value: "noted"}}, got.Annotations); diff != "" {
		t.Errorf("annotations differ (-want +got):\n%s", diff)
	}
}

func TestWithoutAuthorizer(t *testing.T) {
	s := newServer()
	policy := policytest.Validating("p", v1.ValidatingAdmissionPolicySpec{Validations: policytest.Validations("authorizer.requestResource.check('read').allowed()", "true")})
	got, err := validating.NewEngine(validating.Config{Namespaces: s}).Evaluate(t.Context(), create(1), s, store(policy, policytest.Binding("b", "p")).Snapshot())
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
		policytest.Validating("p", v1.ValidatingAdmissionPolicySpec{
			MatchConstraints: policytest.Match(v1.Equivalent, ruleFor(legacyDeployments)),
			Variables:        []v1.Variable{{Name: "few", Expression: few}},
			MatchConditions:  []v1.MatchCondition{{Name: "c", Expression: "request.operation == 'CREATE'"}},
			Validations:      []v1.Validation{{Expression: "variables.few", MessageExpression: "string(object.spec.replicas)"}},
			AuditAnnotations: []v1.AuditAnnotation{{Key: "k", ValueExpression: "string(variables.few)"}},
		}),
		policytest.Binding("b", "p")).Snapshot()
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

// Objects of k8s.io/api that never passed through a server have no defaults. The engine matches and
// decides as if they had.
func TestUndefaultedObjects(t *testing.T) {
	for name, test := range map[string]struct {
		matchPolicy *admissionregistrationv1.MatchPolicyType
		want        []string
	}{
		"unset":      {nil, []string{"b: no"}},
		"equivalent": {new(admissionregistrationv1.Equivalent), []string{"b: no"}},
		"exact":      {new(admissionregistrationv1.Exact), nil},
	} {
		t.Run(name, func(t *testing.T) {
			policy := &admissionregistrationv1.ValidatingAdmissionPolicy{
				ObjectMeta: metav1.ObjectMeta{Name: "p"},
				Spec: admissionregistrationv1.ValidatingAdmissionPolicySpec{
					MatchConstraints: &admissionregistrationv1.MatchResources{MatchPolicy: test.matchPolicy, ResourceRules: []admissionregistrationv1.NamedRuleWithOperations{{
						RuleWithOperations: admissionregistrationv1.RuleWithOperations{
							Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Create},
							Rule:       admissionregistrationv1.Rule{APIGroups: []string{"extensions"}, APIVersions: []string{"v1beta1"}, Resources: []string{"deployments"}},
						},
					}}},
					Validations: []admissionregistrationv1.Validation{{Expression: "object.apiVersion != 'extensions/v1beta1'", Message: "no"}},
				},
			}
			binding := &admissionregistrationv1.ValidatingAdmissionPolicyBinding{
				ObjectMeta: metav1.ObjectMeta{Name: "b"},
				Spec:       admissionregistrationv1.ValidatingAdmissionPolicyBindingSpec{PolicyName: "p", ValidationActions: []admissionregistrationv1.ValidationAction{admissionregistrationv1.Deny}},
			}
			result := evaluate(t, newServer(), create(1), fixed(t, validating.Config{}, policy, binding))
			if diff := cmp.Diff(test.want, messages(result.Decisions())); diff != "" {
				t.Errorf("messages differ (-want +got):\n%s", diff)
			}
			if denied := result.Err() != nil; denied != (test.want != nil) {
				t.Errorf("denied is %t", denied)
			}
		})
	}
}
