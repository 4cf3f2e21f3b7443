// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package routing_test

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	v1 "celador.io/api/admissionregistration/v1"

	"celador.io/polyfill/pkg/routing"
)

// rule returns a rule for all operations from groups, versions and resources, each of them
// separated by commas.
func rule(groups, versions, resources string) v1.NamedRuleWithOperations {
	return v1.NamedRuleWithOperations{RuleWithOperations: v1.RuleWithOperations{
		Operations: []v1.OperationType{v1.OperationAll},
		Rule:       v1.Rule{APIGroups: strings.Split(groups, ","), APIVersions: strings.Split(versions, ","), Resources: strings.Split(resources, ",")},
	}}
}

func validating(name string, rules ...v1.NamedRuleWithOperations) *v1.ValidatingAdmissionPolicy {
	return &v1.ValidatingAdmissionPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec:       v1.ValidatingAdmissionPolicySpec{MatchConstraints: &v1.MatchResources{ResourceRules: rules}, Validations: []v1.Validation{{Expression: "true"}}},
	}
}

func mutating(name string, rules ...v1.NamedRuleWithOperations) *v1.MutatingAdmissionPolicy {
	return &v1.MutatingAdmissionPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec:       v1.MutatingAdmissionPolicySpec{MatchConstraints: &v1.MatchResources{ResourceRules: rules}, ReinvocationPolicy: v1.NeverReinvocationPolicy},
	}
}

// A change of a policy changes its route if API servers would call the webhook otherwise.
func TestRoute(t *testing.T) {
	deployments := rule("apps", "v1", "deployments")
	blue := &metav1.LabelSelector{MatchLabels: map[string]string{"color": "blue"}}
	for name, test := range map[string]struct {
		change func(*v1.ValidatingAdmissionPolicy)
		same   bool
	}{
		"name":        {func(p *v1.ValidatingAdmissionPolicy) { p.Name = "other" }, true},
		"labels":      {func(p *v1.ValidatingAdmissionPolicy) { p.Labels = map[string]string{"a": "b"} }, true},
		"validations": {func(p *v1.ValidatingAdmissionPolicy) { p.Spec.Validations = nil }, true},
		"paramKind": {func(p *v1.ValidatingAdmissionPolicy) {
			p.Spec.ParamKind = &v1.ParamKind{APIVersion: "v1", Kind: "ConfigMap"}
		}, true},
		"match conditions": {func(p *v1.ValidatingAdmissionPolicy) {
			p.Spec.MatchConditions = []v1.MatchCondition{{Name: "a", Expression: "true"}}
		}, true},
		"failurePolicy, default": {func(p *v1.ValidatingAdmissionPolicy) { p.Spec.FailurePolicy = new(v1.Fail) }, true},
		"failurePolicy":          {func(p *v1.ValidatingAdmissionPolicy) { p.Spec.FailurePolicy = new(v1.Ignore) }, false},
		"matchPolicy, default":   {func(p *v1.ValidatingAdmissionPolicy) { p.Spec.MatchConstraints.MatchPolicy = new(v1.Equivalent) }, true},
		"matchPolicy":            {func(p *v1.ValidatingAdmissionPolicy) { p.Spec.MatchConstraints.MatchPolicy = new(v1.Exact) }, false},
		"namespaceSelector, default": {func(p *v1.ValidatingAdmissionPolicy) {
			p.Spec.MatchConstraints.NamespaceSelector = &metav1.LabelSelector{}
		}, true},
		"namespaceSelector": {func(p *v1.ValidatingAdmissionPolicy) { p.Spec.MatchConstraints.NamespaceSelector = blue }, false},
		"objectSelector, default": {func(p *v1.ValidatingAdmissionPolicy) {
			p.Spec.MatchConstraints.ObjectSelector = &metav1.LabelSelector{}
		}, true},
		"objectSelector": {func(p *v1.ValidatingAdmissionPolicy) { p.Spec.MatchConstraints.ObjectSelector = blue }, false},
		"excludeResourceRules": {func(p *v1.ValidatingAdmissionPolicy) {
			p.Spec.MatchConstraints.ExcludeResourceRules = rules(deployments)
		}, true},
		"resources": {func(p *v1.ValidatingAdmissionPolicy) {
			p.Spec.MatchConstraints.ResourceRules = rules(rule("batch", "v1", "*/*"), rule("", "v1", "pods"))
		}, true},
		"operations": {func(p *v1.ValidatingAdmissionPolicy) {
			p.Spec.MatchConstraints.ResourceRules[0].Operations = []v1.OperationType{v1.Delete}
		}, true},
		"scope": {func(p *v1.ValidatingAdmissionPolicy) {
			p.Spec.MatchConstraints.ResourceRules[0].Scope = new(v1.ClusterScope)
		}, true},
		"resourceNames": {func(p *v1.ValidatingAdmissionPolicy) {
			p.Spec.MatchConstraints.ResourceRules[0].ResourceNames = []string{"a"}
		}, true},
		"versions": {func(p *v1.ValidatingAdmissionPolicy) {
			p.Spec.MatchConstraints.ResourceRules = rules(rule("apps", "v1beta1", "deployments"))
		}, false},
		"two versions": {func(p *v1.ValidatingAdmissionPolicy) {
			p.Spec.MatchConstraints.ResourceRules = rules(rule("apps", "v1,v1beta1", "deployments"))
		}, false},
		"all versions": {func(p *v1.ValidatingAdmissionPolicy) {
			p.Spec.MatchConstraints.ResourceRules = rules(rule("apps", "*", "deployments"))
		}, false},
		"a version twice": {func(p *v1.ValidatingAdmissionPolicy) {
			p.Spec.MatchConstraints.ResourceRules = rules(rule("apps", "v1,v1", "deployments"))
		}, true},
		"rules of different versions": {func(p *v1.ValidatingAdmissionPolicy) {
			p.Spec.MatchConstraints.ResourceRules = rules(deployments, rule("batch", "v1beta1", "jobs"))
		}, false},
		"a rule that never matches": {func(p *v1.ValidatingAdmissionPolicy) {
			p.Spec.MatchConstraints.ResourceRules = rules(deployments, v1.NamedRuleWithOperations{})
		}, true},
		"no rules": {func(p *v1.ValidatingAdmissionPolicy) { p.Spec.MatchConstraints.ResourceRules = nil }, false},
		"events": {func(p *v1.ValidatingAdmissionPolicy) {
			p.Spec.MatchConstraints.ResourceRules = rules(rule("", "v1", "events"))
		}, false},
		"everything in the core group": {func(p *v1.ValidatingAdmissionPolicy) {
			p.Spec.MatchConstraints.ResourceRules = rules(rule("", "v1", "*"))
		}, false},
		"subresources of another resource": {func(p *v1.ValidatingAdmissionPolicy) {
			p.Spec.MatchConstraints.ResourceRules = rules(rule("", "v1", "*/scale"))
		}, true},
		"everything": {func(p *v1.ValidatingAdmissionPolicy) {
			p.Spec.MatchConstraints.ResourceRules = rules(rule("*", "v1", "*"))
		}, true},
		"no constraints": {func(p *v1.ValidatingAdmissionPolicy) { p.Spec.MatchConstraints = nil }, false},
		// If the polyfill is not reached, the request fails as it does if the validation is not evaluated.
		"failurePolicy of a validation": {func(p *v1.ValidatingAdmissionPolicy) {
			p.Spec.FailurePolicy, p.Spec.Validations[0].FailurePolicy = new(v1.Ignore), new(v1.Fail)
		}, true},
	} {
		t.Run(name, func(t *testing.T) {
			before := validating("p", deployments)
			after := before.DeepCopy()
			test.change(after)
			unchanged := after.DeepCopy()
			got := routing.ValidatingRoute(after)
			if same := routing.ValidatingRoute(before) == got; same != test.same {
				t.Errorf("the route stays: %t, want %t", same, test.same)
			}
			if errs := validation.IsDNS1123Label(got.Name); len(errs) > 0 {
				t.Errorf("name %q: %v", got.Name, errs)
			}
			if show(after) != show(unchanged) {
				t.Error("the policy is changed")
			}
		})
	}
}

func rules(r ...v1.NamedRuleWithOperations) []v1.NamedRuleWithOperations { return r }

// Selectors with the same requirements are the same.
func TestRouteSelectors(t *testing.T) {
	selecting := func(expressions ...metav1.LabelSelectorRequirement) routing.Route {
		p := validating("p", rule("apps", "v1", "deployments"))
		p.Spec.MatchConstraints.ObjectSelector = &metav1.LabelSelector{MatchExpressions: expressions}
		return routing.ValidatingRoute(p)
	}
	a := metav1.LabelSelectorRequirement{Key: "a", Operator: metav1.LabelSelectorOpIn, Values: []string{"x", "y"}}
	b := metav1.LabelSelectorRequirement{Key: "b", Operator: metav1.LabelSelectorOpExists}
	reversed := metav1.LabelSelectorRequirement{Key: "a", Operator: metav1.LabelSelectorOpIn, Values: []string{"y", "x"}}
	if selecting(a, b) != selecting(b, reversed) {
		t.Error("the order of requirements matters")
	}
	if selecting(a, b) == selecting(a) {
		t.Error("a requirement does not matter")
	}
}

func TestMutatingRoute(t *testing.T) {
	never := mutating("p", rule("apps", "v1", "deployments"))
	again := mutating("p", rule("apps", "v1", "deployments"))
	again.Spec.ReinvocationPolicy = v1.IfNeededReinvocationPolicy
	v := routing.ValidatingRoute(validating("p", rule("apps", "v1", "deployments")))
	n, a := routing.MutatingRoute(never), routing.MutatingRoute(again)
	if n == a || n.Name == v.Name {
		t.Errorf("routes %v, %v and %v are not distinct", n, a, v)
	}
	for r, kind := range map[routing.Route]string{n: "mutate", v: "validate"} {
		path := r.Path("a", "b")
		if !strings.HasPrefix(path, "/"+kind+"/"+r.Name+"/") || path != r.Path("b", "a") || path == r.Path("a") || path == r.Path("ab") {
			t.Errorf("paths are %s, %s, %s and %s", path, r.Path("b", "a"), r.Path("a"), r.Path("ab"))
		}
		for segment := range strings.SplitSeq(path[1:], "/") {
			if errs := validation.IsDNS1123Subdomain(segment); len(errs) > 0 { // as API servers require
				t.Errorf("%s: %v", path, errs)
			}
		}
	}
	// Mutating policies do not apply to deletions, so the version of such a rule is of no account.
	deletion := rule("batch", "v1beta1", "jobs")
	deletion.Operations = []v1.OperationType{v1.Delete}
	never.Spec.MatchConstraints.ResourceRules = append(never.Spec.MatchConstraints.ResourceRules, deletion)
	if got := routing.MutatingRoute(never); got != n {
		t.Errorf("with a rule for deletions, the route is %v, want %v", got, n)
	}
}

// Names begin with a part for readers.
func TestRouteName(t *testing.T) {
	for want, p := range map[string]*v1.ValidatingAdmissionPolicy{
		"fail-v1-":         validating("p", rule("apps", "v1", "deployments")),
		"fail-v1-v1beta1-": validating("p", rule("apps", "v1beta1,v1", "deployments")),
		"fail-any-":        validating("p"),
		"fail-rules-":      validating("p", rule("apps", strings.Repeat("v", 31), "deployments")),
	} {
		if got := routing.ValidatingRoute(p).Name; !strings.HasPrefix(got, want) {
			t.Errorf("name is %s, want %s...", got, want)
		}
	}
}
