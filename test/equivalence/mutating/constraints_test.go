// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package mutating

import (
	v1 "celador.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// constraints are examples of match constraints of policies and bindings.
func constraints() map[string]example {
	concerning := func(m *v1.MatchResources) spec { return with(applying(one), matched(m)) }
	bound := func(m *v1.MatchResources) []*v1.MutatingAdmissionPolicyBinding {
		return []*v1.MutatingAdmissionPolicyBinding{bindingOf(usualBinding, usualPolicy, boundTo(m))}
	}
	excluding := func(m *v1.MatchResources, rules ...v1.NamedRuleWithOperations) *v1.MatchResources {
		m.ExcludeResourceRules = rules
		return m
	}
	named := func(r v1.NamedRuleWithOperations, names ...string) v1.NamedRuleWithOperations {
		r.ResourceNames = names
		return r
	}
	unreadable := everything()
	unreadable.NamespaceSelector = &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "a", Operator: "Resembles"}}}
	return map[string]example{
		"resource":                          {spec: concerning(matching(v1.Exact, rule("apps", "v1", "deployments"))), want: []string{hasOne}},
		"other resource":                    {spec: concerning(matching(v1.Exact, rule("apps", "v1", "statefulsets")))},
		"other version, exact":              {spec: concerning(matching(v1.Exact, rule("extensions", "v1beta1", "deployments")))},
		"other version, equivalent":         {spec: concerning(matching(v1.Equivalent, rule("extensions", "v1beta1", "deployments"))), want: []string{hasOne}},
		"other version of widgets":          {on: "create widget", spec: with(applying("Object{spec: Object.spec{size: object.spec.size + 1}}"), matched(matching(v1.Equivalent, rule("example.com", "v2", "widgets")))), want: []string{`"replicas":10`}},
		"other version of widgets, patched": {on: "create widget", spec: with(patching("[JSONPatch{op: 'replace', path: '/spec/size', value: object.spec.size + 1}]"), matched(matching(v1.Equivalent, rule("example.com", "v2", "widgets")))), want: []string{`"replicas":10`}},
		"other version, twice, of widgets":  {on: "create widget", spec: with(applying("Object{spec: Object.spec{size: object.spec.size + 1}}", "Object{spec: Object.spec{size: object.spec.size * 2}}"), matched(matching(v1.Equivalent, rule("example.com", "v2", "widgets")))), want: []string{`"replicas":20`}},
		"version without a kind":            {spec: concerning(matching(v1.Equivalent, rule("apps", "v1beta1", "deployments"))), fails: `(Forbidden 403) failed to configure policy: unable to convert to apps/v1beta1, Resource=deployments: unknown kind`},
		"version without a type":            {spec: concerning(matching(v1.Equivalent, rule("apps", "v9", "deployments"))), fails: `(Forbidden 403) failed to configure policy: no kind "Deployment" is registered for version "apps/v9" in scheme "pkg/runtime/scheme.go:111"`},
		"operation":                         {spec: concerning(matching(v1.Exact, rule("*", "*", "*", v1.Create))), want: []string{hasOne}},
		"other operation":                   {spec: concerning(matching(v1.Exact, rule("*", "*", "*", v1.Update)))},
		"update":                            {on: "update", spec: concerning(matching(v1.Exact, rule("*", "*", "*", v1.Update))), want: []string{hasOne}},
		"delete":                            {on: "delete", spec: concerning(matching(v1.Exact, rule("*", "*", "*", v1.Delete)))},
		"connect":                           {on: "exec", spec: with(applying("Object{container: 'side'}"), matched(matching(v1.Exact, rule("", "v1", "pods/exec", v1.Connect)))), want: []string{`"container":"side"`}},
		"connect with a JSON patch":         {on: "exec", spec: with(patching("[JSONPatch{op: 'replace', path: '/container', value: 'side'}]"), matched(matching(v1.Exact, rule("", "v1", "pods/exec", v1.Connect)))), want: []string{`"container":"side"`}},
		"connect without options":           {on: "proxy", spec: applying("Object{path: '/'}")},
		"subresource":                       {on: "scale", spec: with(applying(increment), matched(matching(v1.Exact, rule("apps", "v1", "deployments/scale")))), want: []string{`"spec":{"replicas":10}`}},
		"not the subresource":               {on: "scale", spec: with(applying(increment), matched(matching(v1.Exact, rule("apps", "v1", "deployments"))))},
		"scope":                             {on: "create node", spec: concerning(matching(v1.Exact, scoped(rule("*", "*", "*"), v1.ClusterScope))), want: []string{hasOne}},
		"other scope":                       {on: "create node", spec: concerning(matching(v1.Exact, scoped(rule("*", "*", "*"), v1.NamespacedScope)))},
		"name":                              {spec: concerning(matching(v1.Exact, named(rule("*", "*", "*"), "web"))), want: []string{hasOne}},
		"other name":                        {spec: concerning(matching(v1.Exact, named(rule("*", "*", "*"), "api")))},
		"excluded":                          {spec: concerning(excluding(everything(), rule("apps", "*", "*")))},
		"namespace":                         {spec: concerning(inNamespaces("name", "blue")), want: []string{hasOne}},
		"other namespace":                   {spec: concerning(inNamespaces("name", "red"))},
		"namespace itself":                  {on: "create namespace", spec: concerning(inNamespaces("name", "green")), want: []string{hasOne}},
		"missing namespace":                 {on: "create nowhere", spec: concerning(inNamespaces("name", "blue")), fails: `(Forbidden 403) failed to configure policy: namespaces "nowhere" not found`},
		"selector that is none":             {spec: concerning(unreadable), fails: `(Forbidden 403) failed to configure policy: Internal error occurred: "Resembles" is not a valid label selector operator`},
		"object":                            {spec: concerning(ofObjects("app", "shop")), want: []string{hasOne}},
		"other object":                      {spec: concerning(ofObjects("app", "parts"))},
		"object as it was":                  {on: "update", spec: with(patching("[JSONPatch{op: 'remove', path: '/metadata/labels/app'}]"), matched(ofObjects("app", "shop"))), without: []string{`"labels":{"app":"shop"},"name"`}},
		"policies":                          {on: "create policy", spec: applying(one)},
		"binding":                           {spec: applying(one), bindings: bound(matching(v1.Exact, rule("apps", "v1", "deployments"))), want: []string{hasOne}},
		"binding for others":                {spec: applying(one), bindings: bound(matching(v1.Exact, rule("", "v1", "pods")))},
		"binding for a namespace":           {spec: applying(one), bindings: bound(inNamespaces("name", "red"))},
		"binding that is unreadable":        {spec: applying(one), bindings: bound(unreadable), fails: `(Forbidden 403) failed to configure binding: Internal error occurred: "Resembles" is not a valid label selector operator`},
		"no binding":                        {spec: applying(one), bindings: []*v1.MutatingAdmissionPolicyBinding{}},
		"binding of none":                   {spec: applying(one), bindings: []*v1.MutatingAdmissionPolicyBinding{bindingOf("b", "other.example.com")}},
		"two bindings":                      {spec: applying(increment), bindings: []*v1.MutatingAdmissionPolicyBinding{bindingOf("a", usualPolicy), bindingOf("b", usualPolicy)}, want: []string{`"replicas":11`}},
		"two bindings, one for others":      {spec: applying(increment), bindings: []*v1.MutatingAdmissionPolicyBinding{bindingOf("a", usualPolicy), bindingOf("b", usualPolicy, boundTo(inNamespaces("name", "red")))}, want: []string{`"replicas":10`}},
	}
}

func scoped(r v1.NamedRuleWithOperations, scope v1.ScopeType) v1.NamedRuleWithOperations {
	r.Scope = &scope
	return r
}
