// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package mutating

import (
	v1 "celador.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// params are examples of parameters, in different namespaces and missing.
func params() map[string]example {
	set := func(kind *v1.ParamKind, value string) spec {
		return with(applying(`Object{spec: Object.spec{replicas: `+value+`}}`), parameterized(kind))
	}
	limited := set(limitKind, "params.spec.most")
	bound := func(ref v1.ParamRef) []*v1.MutatingAdmissionPolicyBinding {
		return []*v1.MutatingAdmissionPolicyBinding{bindingOf(usualBinding, usualPolicy, using(ref))}
	}
	several := []*unstructured.Unstructured{limit("blue", "a", 1, "x"), limit("blue", "b", 2, "x"), limit("red", "a", 3, "x")}
	selecting := func(set string) *metav1.LabelSelector {
		return &metav1.LabelSelector{MatchLabels: map[string]string{"set": set}}
	}
	five := []*unstructured.Unstructured{limit("blue", "a", 5, "x")}
	return map[string]example{
		"by name":                 {spec: limited, bindings: bound(v1.ParamRef{Name: "a"}), params: five, want: []string{`"replicas":5`}},
		"by name elsewhere":       {spec: limited, bindings: bound(v1.ParamRef{Name: "a", Namespace: "red"}), params: several, want: []string{`"replicas":3`}},
		"by selector":             {spec: limited, bindings: bound(v1.ParamRef{Selector: selecting("x")}), params: five, want: []string{`"replicas":5`}},
		"several":                 {spec: set(limitKind, "object.spec.replicas + params.spec.most"), bindings: bound(v1.ParamRef{Selector: selecting("x")}), params: several, want: []string{`"replicas":12`}},
		"none, denied":            {spec: limited, bindings: bound(v1.ParamRef{Name: "b"}), params: five, fails: "(Forbidden 403) failed to configure binding: no params found for policy binding with `Deny` parameterNotFoundAction"},
		"none, denied, ignored":   {spec: with(limited, ignoring), bindings: bound(v1.ParamRef{Name: "b"}), params: five},
		"none, allowed":           {spec: limited, bindings: bound(v1.ParamRef{Name: "b", ParameterNotFoundAction: new(v1.AllowAction)}), params: five},
		"none selected, denied":   {spec: limited, bindings: bound(v1.ParamRef{Selector: selecting("y")}), params: five, fails: "(Forbidden 403) failed to configure binding: no params found for policy binding with `Deny` parameterNotFoundAction"},
		"none selected, allowed":  {spec: limited, bindings: bound(v1.ParamRef{Selector: selecting("y"), ParameterNotFoundAction: new(v1.AllowAction)}), params: five},
		"for a cluster's object":  {on: "create node", spec: limited, bindings: bound(v1.ParamRef{Name: "a"}), params: five, fails: `(Forbidden 403) failed to configure binding: cannot use namespaced paramRef in policy binding that matches cluster-scoped resources`},
		"no reference":            {spec: with(applying(labelled("v", "params == null ? 'none' : 'some'")), parameterized(limitKind)), params: five, want: []string{`"v":"none"`}},
		"no reference, read":      {spec: limited, params: five, fails: `expression 'Object{spec: Object.spec{replicas: params.spec.most}}' resulted in error: params is null: the binding has no paramRef`},
		"reference without kind":  {spec: applying(one), bindings: bound(v1.ParamRef{Name: "a"}), params: five, want: []string{hasOne}},
		"unknown kind":            {spec: set(unknownKind, "1"), bindings: bound(v1.ParamRef{Name: "a"}), fails: `(Forbidden 403) failed to configure policy: failed to find resource referenced by paramKind: 'rules.example.com/v1, Kind=Unknown'`},
		"config map":              {spec: set(configMapKind, "int(params.data.most)"), bindings: bound(v1.ParamRef{Name: "a"}), params: []*unstructured.Unstructured{configMap("blue", "a", "5")}, want: []string{`"replicas":5`}},
		"config map's data":       {spec: with(applying("Object{metadata: Object.metadata{annotations: params.data}}"), parameterized(configMapKind)), bindings: bound(v1.ParamRef{Name: "a"}), params: []*unstructured.Unstructured{configMap("blue", "a", "5")}, want: []string{`"annotations":{"most":"5"}`}},
		"config map's kind":       {spec: with(applying(labelled("v", "string(has(params.kind)) + string(size(params))")), parameterized(configMapKind)), bindings: bound(v1.ParamRef{Name: "a"}), params: []*unstructured.Unstructured{configMap("blue", "a", "5")}, want: []string{`"v":"false2"`}},
		"config map in condition": {spec: with(applying(one), when("!has(params.apiVersion) && has(params.metadata.name)"), parameterized(configMapKind)), bindings: bound(v1.ParamRef{Name: "a"}), params: []*unstructured.Unstructured{configMap("blue", "a", "5")}, want: []string{hasOne}},
		"limit's kind":            {spec: with(applying(labelled("v", "params.kind + string(size(params))")), parameterized(limitKind)), bindings: bound(v1.ParamRef{Name: "a"}), params: five, want: []string{`"v":"Limit4"`}},
		"in variables":            {spec: with(set(limitKind, "variables.n"), let("n", "params.spec.most + 1")), bindings: bound(v1.ParamRef{Name: "a"}), params: five, want: []string{`"replicas":6`}},
		"in conditions":           {spec: with(limited, when("params.spec.most < object.spec.replicas")), bindings: bound(v1.ParamRef{Name: "a"}), params: five, want: []string{`"replicas":5`}},
		"in a JSON patch":         {spec: with(patching("[JSONPatch{op: 'replace', path: '/spec/replicas', value: params.spec.most}]"), parameterized(limitKind)), bindings: bound(v1.ParamRef{Name: "a"}), params: five, want: []string{`"replicas":5`}},
	}
}
