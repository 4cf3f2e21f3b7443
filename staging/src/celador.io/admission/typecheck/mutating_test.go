// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package typecheck_test

import (
	"strings"
	"testing"

	v1 "celador.io/api/admissionregistration/v1"
	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/kube-openapi/pkg/validation/spec"
)

func TestEveryFieldOfMutations(t *testing.T) {
	undefined := func(field, at string, kind schema.GroupVersionKind) found {
		return found{field: field, message: "<input>:1:" + at + ": undefined field 'nothing'", kind: kind}
	}
	undeclared := func(field, name, at string) found {
		return found{field: field, message: "<input>:1:" + at + ": undeclared reference to '" + name + "' (in container '')", kind: deployment}
	}
	const wrong = "Object{nothing: 1}"
	for name, test := range map[string]struct {
		policy *v1.MutatingAdmissionPolicy
		want   []found
	}{
		"all fields": {
			mutatingPolicy([]v1.Mutation{
				onlyIf("object.nothing", inline(wrong)), applyConfiguration(wrong), jsonPatch("object.nothing"), jsonMergePatch(wrong), onlyIf("true", strategicMergePatch(wrong)),
			}, condition("true"), condition("object.nothing"), variables("good", "object.spec", "bad", "variables.good.nothing")),
			[]found{
				undefined("spec.matchConditions[1].expression", "7", deployment),
				undefined("spec.variables[1].expression", "15", deployment),
				undefined("spec.mutations[0].condition", "7", deployment),
				undefined("spec.mutations[0].expression", "15", deployment),
				undefined("spec.mutations[1].applyConfiguration.expression", "15", deployment),
				undefined("spec.mutations[2].jsonPatch.expression", "7", deployment),
				undefined("spec.mutations[3].jsonMergePatch.expression", "15", deployment),
				undefined("spec.mutations[4].strategicMergePatch.expression", "15", deployment),
			},
		},
		"patches are only in scope of changes": {
			mutatingPolicy([]v1.Mutation{onlyIf("Object{} == null", inline("[JSONPatch{op: 'remove', path: jsonpatch.escapeKey('a')}]"))},
				condition("jsonpatch.escapeKey('a') == 'a'"), variables("v", "JSONPatch{}")),
			[]found{
				undeclared("spec.matchConditions[0].expression", "jsonpatch", "1"),
				undeclared("spec.variables[0].expression", "JSONPatch", "10"),
				undeclared("spec.mutations[0].condition", "Object", "7"),
			},
		},
		"authorizer, params and variables": {
			mutatingPolicy([]v1.Mutation{onlyIf("authorizer.requestResource.check('get').allowed() && params.a == 'a'",
				inline("authorizer.path('/').check('get').allowed() ? Object{spec: Object.spec{replicas: variables.n + params.b}} : Object{}"))},
				params("v1", "Nothing"), variables("n", "authorizer.path('/').check('get').allowed() ? 1 : params.c")),
			nil,
		},
		"types": {
			mutatingPolicy([]v1.Mutation{inline("Object{spec: Object.spec{replicas: 1}}")}, rule("apps", "v1", "replicasets", "deployments"), rule("", "v1", "pods")),
			[]found{{field: "spec.mutations[0].expression", message: "<input>:1:34: undefined field 'replicas'", kind: pod}},
		},
		"surrounding space": {
			mutatingPolicy([]v1.Mutation{inline("\n  " + wrong + "\n")}),
			[]found{{field: "spec.mutations[0].expression", message: "<input>:2:17: undefined field 'nothing'", kind: deployment}},
		},
		"no syntax": {
			mutatingPolicy([]v1.Mutation{inline("Object{")}),
			[]found{{field: "spec.mutations[0].expression", message: "<input>:1:8: Syntax error: mismatched input '<EOF>' expecting {'}', ',', '?', IDENTIFIER, ESC_IDENTIFIER}", kind: deployment}},
		},
		"variables that mix": {
			mutatingPolicy([]v1.Mutation{inline("[JSONPatch{op: 'add', path: '/a', value: variables.v}]")}, condition("[object.metadata.name, object.spec.replicas].size() == 2"),
				variables("v", "{'name': object.metadata.name, 'size': object.spec.replicas}")),
			nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			result := checker(t, mapperFor(deployment, replicaSet, pod), builtIn).CheckMutating(test.policy)
			if diff := cmp.Diff(test.want, findings(result), cmp.AllowUnexported(found{})); diff != "" {
				t.Errorf("findings differ (-want +got):\n%s", diff)
			}
		})
	}
}

// Findings on mutations name the type of params if only params cause the error.
func TestParamsOfMutations(t *testing.T) {
	const field = "spec.mutations[0].expression"
	described := builtIn.with(widget, widgetSpec(map[string]spec.Schema{"color": *spec.StringProperty()}))
	for name, test := range map[string]struct {
		value string
		want  []found
	}{
		"unknown field": {"params.spec.size", []found{{field, "<input>:1:47: undefined field 'size'", deployment, widget}}},
		"wrong type":    {"params.spec.color", []found{{field, "<input>:1:34: expected type of field 'replicas' is 'int' but provided type is 'string'", deployment, widget}}},
		"wrong anyway":  {"string(params.spec.color)", []found{{field, "<input>:1:34: expected type of field 'replicas' is 'int' but provided type is 'string'", deployment, schema.GroupVersionKind{}}}},
	} {
		t.Run(name, func(t *testing.T) {
			p := mutatingPolicy([]v1.Mutation{inline("Object{spec: Object.spec{replicas: " + test.value + "}}")}, params("example.com/v1", "Widget"))
			result := checker(t, mapperFor(deployment, widget), described).CheckMutating(p)
			if diff := cmp.Diff(test.want, findings(result), cmp.AllowUnexported(found{})); diff != "" {
				t.Errorf("findings differ (-want +got):\n%s", diff)
			}
		})
	}
}

// Deployments have spec.template, pods have spec.nodeName.
func TestGuardedMutations(t *testing.T) {
	const template, noTemplate = "Object{spec: Object.spec{template: Object.spec.template{}}}", "Object{spec: Object.spec{nodeName: 'a'}}"
	one := func(m v1.Mutation, change ...func(*v1.ValidatingAdmissionPolicySpec)) *v1.MutatingAdmissionPolicy {
		both := rules(v1.Rule{APIGroups: []string{"apps", ""}, APIVersions: []string{"v1"}, Resources: []string{"deployments", "pods"}})
		return mutatingPolicy([]v1.Mutation{m}, append(change, both)...)
	}
	const onDeployments, onPods = "has(object.spec.template)", "!has(object.spec.template)"
	for name, test := range map[string]struct {
		policy *v1.MutatingAdmissionPolicy
		want   string // findings on the change by kind
	}{
		"no guard":                   {one(inline(template)), "Pod"},
		"alternatives":               {one(inline(onDeployments + " ? " + template + " : " + noTemplate)), "Deployment, Pod guarded"},
		"alternatives, both guarded": {one(inline(onDeployments + " ? " + template + " : has(object.spec.nodeName) ? " + noTemplate + " : Object{}")), "Deployment guarded, Pod guarded"},
		"condition":                  {one(onlyIf(onDeployments, inline(template))), "Pod guarded"},
		"condition and more":         {one(onlyIf(onDeployments+" && object.metadata.name != ''", inline(template))), "Pod guarded"},
		"condition or more":          {one(onlyIf(onDeployments+" || object.metadata.name != ''", inline(template))), "Pod"},
		"condition of the contrary":  {one(onlyIf(onPods, inline(template))), "Pod"},
		"condition of another": {
			mutatingPolicy([]v1.Mutation{onlyIf(onDeployments, inline("Object{}")), inline(template)}, rule("apps", "v1", "deployments"), rule("", "v1", "pods")), "Pod",
		},
		"match condition":              {one(inline(template), condition(onDeployments)), "Pod guarded"},
		"match conditions":             {one(inline(template), condition("true"), condition(onDeployments)), "Pod guarded"},
		"match condition of neither":   {one(inline("Object{spec: Object.spec{nothing: 1}}"), condition("has(object.spec.nothing)")), "Deployment guarded, Pod guarded"},
		"match condition, wrong too":   {one(inline("Object{nothing: 1}"), condition(onDeployments)), "Deployment, Pod guarded"},
		"wrong value when it is there": {one(inline(onDeployments + " ? Object{spec: Object.spec{template: 1}} : Object{}")), "Deployment, Pod guarded"},
	} {
		t.Run(name, func(t *testing.T) {
			result := checker(t, mapperFor(deployment, pod), builtIn).CheckMutating(test.policy)
			var got []string
			for _, f := range result.Findings {
				if !strings.HasSuffix(f.Field, ".expression") || !strings.HasPrefix(f.Field, "spec.mutations") {
					continue
				}
				kind := f.Type.Kind
				if f.Guarded {
					kind += " guarded"
				}
				got = append([]string{kind}, got...) // pods come first
			}
			if got := strings.Join(got, ", "); got != test.want {
				t.Errorf("got findings %q, want %q in %v", got, test.want, result.Findings)
			}
		})
	}
}

// A false match condition also guards validations and the other match conditions.
func TestGuardedByMatchConditions(t *testing.T) {
	p := policy("variables.v.metadata.name != ''", condition("object.spec.template.metadata.name != ''"), condition("has(object.spec.template)"),
		variables("v", "object.spec.template"), message("object.spec.template.metadata.name"), annotation("object.spec.template.metadata.name"),
		rule("apps", "v1", "deployments"), rule("", "v1", "pods"))
	result := checker(t, mapperFor(deployment, pod), builtIn).CheckValidating(p)
	want := []string{"spec.matchConditions[0].expression guarded", "spec.matchConditions[1].expression guarded", "spec.variables[0].expression guarded",
		"spec.validations[0].messageExpression guarded", "spec.auditAnnotations[0].valueExpression guarded"}
	var got []string
	for _, f := range result.Findings {
		text := f.Field
		if f.Guarded {
			text += " guarded"
		}
		got = append(got, text)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("findings differ (-want +got):\n%s", diff)
	}
}
