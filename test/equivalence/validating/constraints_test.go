// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package validating

import (
	v1 "celador.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// constraints are examples of matchConstraints.
func constraints() map[string]example {
	spec := func(m *v1.MatchResources) v1.ValidatingAdmissionPolicySpec {
		return v1.ValidatingAdmissionPolicySpec{MatchConstraints: m, Validations: validating("false")}
	}
	all := func(change func(*v1.MatchResources)) v1.ValidatingAdmissionPolicySpec {
		m := everything()
		change(m)
		return spec(m)
	}
	rules := func(rules ...v1.NamedRuleWithOperations) v1.ValidatingAdmissionPolicySpec {
		return spec(matching(v1.Exact, rules...))
	}
	exclude := func(rules ...v1.NamedRuleWithOperations) v1.ValidatingAdmissionPolicySpec {
		return all(func(m *v1.MatchResources) { m.ExcludeResourceRules = rules })
	}
	named := func(rule v1.NamedRuleWithOperations, names ...string) v1.NamedRuleWithOperations {
		rule.ResourceNames = names
		return rule
	}
	scoped := func(scope v1.ScopeType) v1.ValidatingAdmissionPolicySpec {
		return all(func(m *v1.MatchResources) { m.ResourceRules[0].Scope = &scope })
	}
	namespaces := func(selector *metav1.LabelSelector) v1.ValidatingAdmissionPolicySpec {
		return all(func(m *v1.MatchResources) { m.NamespaceSelector = selector })
	}
	objects := func(selector *metav1.LabelSelector) v1.ValidatingAdmissionPolicySpec {
		return all(func(m *v1.MatchResources) { m.ObjectSelector = selector })
	}
	expression := func(key string, operator metav1.LabelSelectorOperator, values ...string) *metav1.LabelSelector {
		return &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: key, Operator: operator, Values: values}}}
	}
	bad := expression("name", "Resembles")
	matches := func(spec v1.ValidatingAdmissionPolicySpec, on string) example {
		return example{spec: spec, on: on, want: says(neverDenied)}
	}
	exempts := func(spec v1.ValidatingAdmissionPolicySpec, on string) example { return example{spec: spec, on: on} }
	fails := func(spec v1.ValidatingAdmissionPolicySpec, on, message string) example {
		return example{spec: spec, on: on, want: says("denied by the policy: failed to configure policy: " + message)}
	}
	deploys := rule("apps", "v1", "deployments")
	return map[string]example{
		"webhook configurations":            matches(spec(everything()), "create webhook"),
		"never policies":                    exempts(spec(everything()), "create policy"),
		"one resource":                      matches(rules(deploys), "create"),
		"another resource":                  exempts(rules(deploys), "create widget"),
		"another group":                     exempts(rules(rule("batch", "v1", "deployments")), "create"),
		"second of two rules":               matches(rules(rule("batch", "v1", "jobs"), deploys), "create"),
		"resource, not subresource":         exempts(rules(deploys), "scale"),
		"subresource":                       matches(rules(rule("apps", "v1", "deployments/scale")), "scale"),
		"subresource, not resource":         exempts(rules(rule("apps", "v1", "deployments/scale")), "create"),
		"all subresources":                  matches(rules(rule("apps", "v1", "deployments/*")), "scale"),
		"all subresources and resource":     matches(rules(rule("apps", "v1", "deployments/*")), "create"),
		"a subresource of all":              matches(rules(rule("*", "*", "*/scale")), "scale"),
		"all resources":                     matches(rules(rule("*", "*", "*")), "create node"),
		"all resources, no subresources":    exempts(rules(rule("*", "*", "*")), "exec"),
		"one operation":                     matches(rules(rule("*", "*", "*", v1.Create)), "create"),
		"another operation":                 exempts(rules(rule("*", "*", "*", v1.Create)), "update"),
		"one of two operations":             matches(rules(rule("*", "*", "*", v1.Create, v1.Update)), "update"),
		"by name":                           matches(rules(named(deploys, "api", "web")), "create"),
		"by another name":                   exempts(rules(named(deploys, "api")), "create"),
		"by name, none yet":                 exempts(rules(named(deploys, "web")), "create nameless"),
		"by name, collection":               exempts(rules(named(deploys, "web")), "delete collection"),
		"cluster scope":                     matches(scoped(v1.ClusterScope), "create node"),
		"cluster scope, namespaced":         exempts(scoped(v1.ClusterScope), "create"),
		"cluster scope, namespace":          matches(scoped(v1.ClusterScope), "create namespace"),
		"namespaced scope":                  matches(scoped(v1.NamespacedScope), "create"),
		"namespaced scope, cluster":         exempts(scoped(v1.NamespacedScope), "create node"),
		"namespaced scope, namespace":       exempts(scoped(v1.NamespacedScope), "delete namespace"),
		"excluded":                          exempts(exclude(deploys), "create"),
		"excluded, subresource is not":      matches(exclude(deploys), "scale"),
		"excluded by name":                  exempts(exclude(named(deploys, "web")), "create"),
		"excluded by another name":          matches(exclude(named(deploys, "api")), "create"),
		"excluded operation":                exempts(exclude(rule("*", "*", "*/*", v1.Delete)), "delete"),
		"excluded without rules":            exempts(spec(&v1.MatchResources{MatchPolicy: new(v1.Exact), ExcludeResourceRules: []v1.NamedRuleWithOperations{deploys}}), "create"),
		"no rules":                          matches(spec(&v1.MatchResources{}), "create"),
		"namespace by label":                matches(namespaces(labelled("name", "blue")), "create"),
		"namespace by label, another":       exempts(namespaces(labelled("name", "blue")), "create in red"),
		"namespace without labels":          exempts(namespaces(labelled("name", "blue")), "create in bare"),
		"namespace by absent label":         matches(namespaces(expression("name", metav1.LabelSelectorOpDoesNotExist)), "create in bare"),
		"namespace by its own name":         matches(namespaces(expression("kubernetes.io/metadata.name", metav1.LabelSelectorOpNotIn, "red")), "create"),
		"namespaces, cluster object":        matches(namespaces(labelled("name", "blue")), "create node"),
		"namespaces, new one by own label":  matches(namespaces(labelled("app", "shop")), "create namespace"),
		"namespaces, new one without label": exempts(namespaces(labelled("name", "blue")), "create namespace"),
		"namespaces, old one by label":      matches(namespaces(labelled("name", "red")), "delete namespace"),
		"namespace is missing":              fails(namespaces(labelled("name", "blue")), "create nowhere", `namespaces "nowhere" not found`),
		"namespace is missing, ignored":     exempts(ignoring(namespaces(labelled("name", "blue"))), "create nowhere"),
		"namespace is missing, excluded":    exempts(spec(&v1.MatchResources{NamespaceSelector: labelled("name", "blue"), ResourceRules: []v1.NamedRuleWithOperations{rule("", "v1", "pods")}}), "create nowhere"),
		"namespace is not looked at":        {spec: all(func(*v1.MatchResources) {}), on: "create nowhere", want: says(`denied (NotFound 404): namespaces "nowhere" not found`)},
		"invalid namespace selector":        fails(namespaces(bad), "create", `Internal error occurred: "Resembles" is not a valid label selector operator`),
		"invalid selector, cluster object":  matches(namespaces(bad), "create node"),
		"object by label":                   matches(objects(labelled("app", "shop")), "create"),
		"object by label, another":          exempts(objects(labelled("app", "shop")), "create widget"),
		"object by label, removed":          matches(objects(labelled("app", "shop")), "delete"),
		"object by label, without":          exempts(objects(labelled("app", "shop")), "delete without"),
		"object without labels":             exempts(objects(labelled("app", "shop")), "exec"),
		"custom object by label":            matches(objects(labelled("app", "parts")), "create widget"),
		"invalid object selector":           fails(objects(bad), "create", `Internal error occurred: "Resembles" is not a valid label selector operator`),
		"invalid object selector, ignored":  exempts(ignoring(objects(bad)), "create"),
	}
}
