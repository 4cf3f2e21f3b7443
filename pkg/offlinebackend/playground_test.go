// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package offlinebackend_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"celador.io/offline/cluster/clustertest"
	"celador.io/offline/playground"

	"celador.io/celador/pkg/offlinebackend"
)

// playPolicy returns a policy for ConfigMaps with further fields of its spec, in flow style.
func playPolicy(kind, name, spec string) string {
	return `apiVersion: admissionregistration.k8s.io/v1
kind: ` + kind + `
metadata: {name: ` + name + `}
spec:
  matchConstraints:
    resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: ["*"], resources: [configmaps]}]
` + spec
}

// playBinding returns the binding of a policy with further fields of its spec.
func playBinding(kind, policy, spec string) string {
	return "apiVersion: admissionregistration.k8s.io/v1\nkind: " + kind + "Binding\nmetadata: {name: everywhere}\nspec: {policyName: " + policy + spec + "}\n"
}

const (
	validatingKind = "ValidatingAdmissionPolicy"
	mutatingKind   = "MutatingAdmissionPolicy"
	denies         = ", validationActions: [Deny]"
	configMap      = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\ndata: {a: b}\n"
)

// describeAnswer returns an answer in lines that tests compare.
func describeAnswer(a *playground.Answer) []string {
	lines := []string{fmt.Sprintf("%s allowed=%t", a.Decision, a.Allowed)}
	add := func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }
	for _, p := range a.Problems {
		add("problem %s:%d %s: %s", p.Pane, p.Line, p.Field, p.Message)
	}
	if a.Status != nil {
		add("status %d %s: %s", a.Status.Code, a.Status.Reason, a.Status.Message)
	}
	for _, w := range a.Warnings {
		add("warning %s", w)
	}
	for _, p := range a.Policies {
		add("policy %s/%s %s %s", p.Policy, p.Binding, p.Effect, p.Reason)
		for _, v := range p.Violations {
			add("violation %d %v %s failed=%t", v.Validation, v.Actions, v.Message, v.Failed)
		}
	}
	for _, w := range a.Webhooks {
		add("webhook %s called=%t", w.Name, w.Called)
	}
	for _, e := range a.Expressions {
		add("expression %s %s:%d %s: %s (%d/%d)", e.Policy, e.Pane, e.Line, e.Field, e.Text, e.Covered, e.Branches)
		for _, evaluation := range e.Evaluations {
			add("value %s error=%t cost=%d %s %v", evaluation.Value, evaluation.Failed, evaluation.Cost, evaluation.Part, evaluation.Values)
		}
		for _, missing := range e.Missing {
			add("missing %s", missing)
		}
	}
	for _, w := range a.TypeWarnings {
		add("type warning %s:%d %s: %s", w.Pane, w.Line, w.Field, w.Warning)
	}
	if a.Diff != "" {
		add("diff %s", a.Diff)
	}
	return lines
}

func TestPlayground(t *testing.T) {
	replicasOf := func(replicas string) string { return clustertest.DeploymentYAML(replicas)[1:] }
	policy, binding, _ := strings.Cut(clustertest.Replicas[1:], "---\n")
	evaluator := playground.NewEvaluator(offlinebackend.KubeAPIServer)
	for _, test := range []struct {
		name  string
		input playground.PageState
		want  []string // lines of describeAnswer that the answer has, among others
		all   bool     // want has all lines
	}{
		{
			name: "nothing", want: []string{" allowed=false"}, all: true,
		},
		{
			name:  "denied",
			input: playground.PageState{Panes: playground.Panes{Policy: policy, Binding: binding, Object: replicasOf("9")}},
			want: []string{
				"Denied allowed=false",
				`status 422 Invalid: deployments.apps "web" is forbidden: ValidatingAdmissionPolicy 'replicas.example.com' with binding 'everywhere' denied request: at most 5 replicas, not 9`,
				"policy replicas.example.com/everywhere Denied ",
				"violation 0 [Deny] at most 5 replicas, not 9 failed=false",
				"expression replicas.example.com policy:13 spec.validations[0].expression: object.spec.replicas <= 5 (0/3)",
				"value false error=false cost=4 object.spec.replicas <= 5 [{object.spec.replicas 9}]",
				"missing object.spec.replicas was never less than 5", "missing object.spec.replicas was never 5", "missing object.spec.replicas was never 6",
				`expression replicas.example.com policy:14 spec.validations[0].messageExpression: "at most 5 replicas, not " + string(object.spec.replicas) (1/1)`,
				`value "at most 5 replicas, not 9" error=false cost=7`,
			},
			all: true,
		},
		{
			name:  "update",
			input: playground.PageState{Panes: playground.Panes{Policy: policy, Binding: binding, OldObject: replicasOf("9"), Object: replicasOf("5")}},
			want:  []string{"Allowed allowed=true", "policy replicas.example.com/everywhere Admitted "},
		},
		{
			name:  "deletion",
			input: playground.PageState{Panes: playground.Panes{Policy: policy, Binding: binding, OldObject: replicasOf("9"), Request: "operation: DELETE"}},
			want:  []string{"NoMatch allowed=true"},
		},
		{
			name:  "no request",
			input: playground.PageState{Panes: playground.Panes{Policy: policy}},
			want:  []string{" allowed=false", "expression replicas.example.com policy:13 spec.validations[0].expression: object.spec.replicas <= 5 (0/3)"},
		},
		{
			name:  "all in one pane",
			input: playground.PageState{Panes: playground.Panes{Manifests: "apiVersion: v1\nkind: List\nitems:\n- " + indentItem(policy) + "- " + indentItem(binding), Object: replicasOf("9")}},
			want:  []string{"Denied allowed=false", "expression replicas.example.com manifests:16 spec.validations[0].expression: object.spec.replicas <= 5 (0/3)"},
		},
		{
			name: "mutated",
			input: playground.PageState{Panes: playground.Panes{
				Policy:  playPolicy(mutatingKind, "color", "  reinvocationPolicy: Never\n  mutations:\n  - patchType: ApplyConfiguration\n    applyConfiguration:\n      expression: |-\n        Object{data: {'color': 'blue'}}\n"),
				Binding: playBinding(mutatingKind, "color", ""), Object: configMap,
			}},
			want: []string{
				"Allowed allowed=true", "policy color/everywhere Mutated ",
				`expression color policy:11 spec.mutations[0].applyConfiguration.expression: Object{data: {"color": "blue"}} (0/0)`,
				"diff --- without policies\n+++ with policies\n@@ -1,6 +1,7 @@\n apiVersion: v1\n data:\n   a: b\n+  color: blue\n kind: ConfigMap\n metadata:\n   name: x",
			},
		},
		{
			name: "params",
			input: playground.PageState{Panes: playground.Panes{
				Policy:  playPolicy(validatingKind, "p", "  paramKind: {apiVersion: v1, kind: ConfigMap}\n  validations: [{expression: \"object.data.a in params.data.allowed.split(',')\"}]\n"),
				Binding: playBinding(validatingKind, "p", denies+", paramRef: {selector: {}, namespace: default, parameterNotFoundAction: Deny}"),
				Params:  strings.ReplaceAll(configMap, "{a: b}", "{allowed: 'b,c'}") + "---\n" + strings.NewReplacer("x}", "w}", "{a: b}", "{allowed: c}").Replace(configMap), Object: strings.ReplaceAll(configMap, "x}", "z}"),
			}},
			want: []string{
				"Denied allowed=false",
				`value true error=false cost=9 object.data.a in params.data.allowed.split(",") [{object.data.a "b"} {params.data.allowed.split(",") ["b", "c"]} {params.data.allowed "b,c"}]`,
				`value false error=false cost=8 object.data.a in params.data.allowed.split(",") [{object.data.a "b"} {params.data.allowed.split(",") ["c"]} {params.data.allowed "c"}]`,
			},
		},
		{
			name: "authorizer",
			input: playground.PageState{Panes: playground.Panes{
				Policy:  playPolicy(validatingKind, "p", "  validations: [{expression: \"authorizer.group('').resource('secrets').namespace('default').check('get').allowed()\"}]\n"),
				Binding: playBinding(validatingKind, "p", denies), Object: configMap, Request: "userInfo: {username: jane}",
				RBAC: "apiVersion: rbac.authorization.k8s.io/v1\nkind: Role\nmetadata: {name: reader}\nrules: [{apiGroups: [''], resources: [secrets], verbs: [get]}]\n---\n" +
					"apiVersion: rbac.authorization.k8s.io/v1\nkind: RoleBinding\nmetadata: {name: jane}\nroleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: reader}\nsubjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: jane}]\n",
			}},
			want: []string{"Allowed allowed=true"},
		},
		{
			name: "custom resource",
			input: playground.PageState{Panes: playground.Panes{
				Policy:    strings.ReplaceAll(playPolicy(validatingKind, "p", "  validations: [{expression: object.spec.size > 1}]\n"), `[""], apiVersions: [v1], operations: ["*"], resources: [configmaps]`, `[example.com], apiVersions: [v1], operations: ["*"], resources: [widgets]`),
				Binding:   playBinding(validatingKind, "p", denies),
				Manifests: clustertest.Widgets, Object: "apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: x}\nspec: {size: 1}\n",
			}},
			want: []string{"Denied allowed=false"},
		},
		{
			name:  "invalid object",
			input: playground.PageState{Panes: playground.Panes{Policy: policy, Binding: binding, Object: replicasOf("-1")}},
			want:  []string{"Rejected allowed=false"},
		},
		{
			name:  "policy that does not match",
			input: playground.PageState{Panes: playground.Panes{Policy: policy, Object: replicasOf("9")}},
			want:  []string{"NoMatch allowed=true", "policy replicas.example.com/ NotMatched the policy has no binding"},
		},
		{
			name: "warnings of type checks",
			input: playground.PageState{Panes: playground.Panes{
				Policy: playPolicy(validatingKind, "p", "  validations:\n  - expression: object.dta.a == 'b'\n"), Binding: playBinding(validatingKind, "p", ", validationActions: [Warn]"), Object: configMap,
			}},
			want: []string{
				"Allowed allowed=true", "violation 0 [Warn] expression 'object.dta.a == 'b'' resulted in error: no such key: dta failed=true",
				"value an error: no such key: dta error=true cost=3",
				"type warning policy:8 spec.validations[0].expression: /v1, Kind=ConfigMap: ERROR: <input>:1:7: undefined field 'dta'\n | object.dta.a == 'b'\n | ......^",
			},
		},
		{
			name: "feature gate",
			input: playground.PageState{
				Panes:        playground.Panes{Policy: playPolicy(validatingKind, "p", "  policyType: Singleton\n  validations: [{expression: 'false', message: never}]\n"), Object: configMap},
				FeatureGates: map[string]bool{"ValidatingAdmissionPolicySingleton": true},
			},
			want: []string{"Denied allowed=false", "violation 0 [Deny] never failed=false"},
		},
		{
			name:  "unknown feature gate",
			input: playground.PageState{FeatureGates: map[string]bool{"Nonsense": true}},
			want:  []string{" allowed=false", "problem featureGates:0 : unrecognized feature gate: Nonsense"}, all: true,
		},
		{
			name:  "syntax",
			input: playground.PageState{Panes: playground.Panes{Policy: policy, Binding: "a: b\nc: [\n", Object: "\ta"}},
			want:  []string{" allowed=false", "problem binding:2 : not valid YAML", "problem object:1 : not valid YAML: found character that cannot start any token"}, all: true,
		},
		{
			name:  "expression that does not compile",
			input: playground.PageState{Panes: playground.Panes{Policy: strings.ReplaceAll(policy, "<= 5", "<="), Object: replicasOf("1")}},
			want:  []string{" allowed=false", "problem policy:13 spec.validations[0].expression: Invalid value: compilation failed: ERROR: <input>:1:24: Syntax error"}, all: true,
		},
		{
			name:  "unknown fields",
			input: playground.PageState{Panes: playground.Panes{Policy: strings.ReplaceAll(policy, "validations:", "validation:"), Object: configMap}},
			want:  []string{" allowed=false", "problem policy:12 spec.validation: unknown field"}, all: true,
		},
		{
			name:  "unknown field of the object",
			input: playground.PageState{Panes: playground.Panes{Object: configMap + "date: {}\n"}},
			want:  []string{" allowed=false", "problem object:5 date: unknown field"}, all: true,
		},
		{
			name:  "many invalid fields",
			input: playground.PageState{Panes: playground.Panes{Manifests: "apiVersion: v1\nkind: Pod\nmetadata: {name: x}\nspec:\n  containers:\n" + manyContainers(150)}},
			want: []string{
				" allowed=false", "problem manifests:6 spec.containers[0].name: Invalid value: ", "problem manifests:105 spec.containers[99].name: Invalid value: ", "problem manifests:1 : 50 more fields are invalid",
			},
		},
		{
			name: "match condition of a webhook",
			input: playground.PageState{Panes: playground.Panes{Object: configMap, Manifests: `apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: w}
webhooks:
- name: w.example.com
  sideEffects: None
  admissionReviewVersions: [v1]
  clientConfig: {url: "https://localhost/"}
  rules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [configmaps]}]
  matchConditions:
  - {name: big, expression: object.data.size() > 1}
`}},
			want: []string{
				"NoMatch allowed=true", "webhook w.example.com called=false", "expression w manifests:11 webhooks[0].matchConditions[0].expression: object.data.size() > 1 (1/3)",
				"value false error=false cost=4",
			},
		},
		{
			name:  "unknown kind",
			input: playground.PageState{Panes: playground.Panes{Object: "apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: x}\n"}},
			want:  []string{" allowed=false", `problem object:1 : kind Widget: API group "example.com" is not served: custom resources need their CustomResourceDefinition among the objects`}, all: true,
		},
		{
			name:  "fields of the request",
			input: playground.PageState{Panes: playground.Panes{Object: configMap, Request: "operation: CREATE\nuser: jane\nobject: /etc/passwd\n"}},
			want:  []string{" allowed=false", "problem request:3 object: has a pane of its own"}, all: true,
		},
		{
			name:  "unknown field of the request",
			input: playground.PageState{Panes: playground.Panes{Object: configMap, Request: "operation: CREATE\nuser: jane\n"}},
			want:  []string{" allowed=false", "problem request:2 user: unknown field"}, all: true,
		},
		{
			name:  "path of a file",
			input: playground.PageState{Panes: playground.Panes{Policy: "/etc/passwd", Params: "[/etc/passwd]", Object: "/etc/passwd"}},
			want: []string{
				" allowed=false", "problem policy:1 : a value of type string is not allowed here, want object", "problem params:1 : a value of type array is not allowed here, want object",
				"problem object:1 : a value of type string is not allowed here, want object",
			},
			all: true,
		},
		{
			name:  "two objects",
			input: playground.PageState{Panes: playground.Panes{Object: configMap + "---\n" + configMap}},
			want:  []string{" allowed=false", "problem object:6 : the pane has 2 documents, want 1"}, all: true,
		},
		{
			name:  "the same object twice",
			input: playground.PageState{Panes: playground.Panes{Policy: policy, Manifests: policy, Object: configMap}},
			want:  []string{" allowed=false", `problem manifests:4 metadata.name: ValidatingAdmissionPolicy "replicas.example.com" is already in policy:1`}, all: true,
		},
		{
			name: "expensive expression",
			input: playground.PageState{Panes: playground.Panes{
				Policy:  playPolicy(validatingKind, "p", "  validations:\n  - expression: \"[1,2,3,4,5,6,7,8,9,10].all(a, [1,2,3,4,5,6,7,8,9,10].all(b, [1,2,3,4,5,6,7,8,9,10].all(c, [1,2,3,4,5,6,7,8,9,10].all(d, [1,2,3,4,5,6,7,8,9,10].all(e, [1,2,3,4,5,6,7,8,9,10].all(f, a + b + c + d + e + f < 100 && object.data.size() > 0))))))\"\n"),
				Binding: playBinding(validatingKind, "p", denies), Object: configMap,
			}},
			want: []string{"Error allowed=false", "value an error: operation cancelled: actual cost limit exceeded error=true cost=100"},
		},
		{
			name:  "aliases",
			input: playground.PageState{Panes: playground.Panes{Manifests: "a: &a " + strings.Repeat("x", 1000) + "\nb: [" + strings.Repeat("*a, ", 4000) + "]\n"}},
			want:  []string{" allowed=false", "problem manifests:1 : the aliases stand for more than 3145728 bytes"}, all: true,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			answer, err := evaluator.Evaluate(t.Context(), &test.input)
			if err != nil {
				t.Fatal(err)
			}
			got := describeAnswer(answer)
			for _, line := range test.want {
				if !slices.ContainsFunc(got, func(g string) bool { return strings.HasPrefix(g, line) }) {
					t.Errorf("no line %q", line)
				}
			}
			if test.all && len(got) != len(test.want) {
				t.Error("there are further lines")
			}
			if t.Failed() {
				t.Logf("answer:\n%s", strings.Join(got, "\n"))
			}
			again, err := evaluator.Evaluate(t.Context(), &test.input)
			if diff := cmp.Diff(got, describeAnswer(again)); err != nil || diff != "" {
				t.Errorf("the second answer differs, error %v:\n%s", err, diff)
			}
		})
	}
}

// manyContainers returns containers with invalid names.
func manyContainers(count int) string {
	var text strings.Builder
	for i := range count {
		fmt.Fprintf(&text, "  - {name: C%d, image: x}\n", i)
	}
	return text.String()
}

// indentItem returns a document as an item of a list.
func indentItem(document string) string {
	return strings.ReplaceAll(strings.TrimSpace(document), "\n", "\n  ") + "\n"
}

// Inputs of any shape have an answer.
func FuzzPlayground(f *testing.F) {
	policy, binding, _ := strings.Cut(clustertest.Replicas[1:], "---\n")
	f.Add(policy, binding, clustertest.DeploymentYAML("9"), "", "operation: CREATE", "")
	f.Add("a: &a [*a]", "- /etc/passwd", "null", configMap, "operation: DELETE\nname: 1", "kind: List\nitems: [a, {kind: List, items: [{}]}]")
	f.Add("kind: List\nitems: 1", "{}", "apiVersion: v1\nkind: Pod\nmetadata: a", "---\n---\n", "cases: []\nuserInfo: 1\nresource: {}", "apiVersion: v1\nkind: ConfigMapList\nitems: [{}]")
	f.Add(policy+"  matchConditions: [{name: a, expression: \"object.x.all(y, y)\"}]", binding, configMap, "", "options: {a: b}\nsubResource: status\ndryRun: true", clustertest.Widgets)
	evaluator := playground.NewEvaluator(offlinebackend.KubeAPIServer)
	f.Fuzz(func(t *testing.T, policy, binding, object, oldObject, request, manifests string) {
		input := &playground.PageState{Panes: playground.Panes{Policy: policy, Binding: binding, Object: object, OldObject: oldObject, Request: request, Manifests: manifests}}
		answer, err := evaluator.Evaluate(t.Context(), input)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := json.Marshal(answer); err != nil {
			t.Error(err)
		}
		panes := []string{"", "policy", "binding", "object", "oldObject", "request", "manifests"}
		for _, p := range answer.Problems {
			if !slices.Contains(panes, p.Pane) {
				t.Errorf("problem of no pane: %+v", p)
			}
		}
	})
}
