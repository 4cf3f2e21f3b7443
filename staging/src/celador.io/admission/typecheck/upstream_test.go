// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package typecheck_test

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"

	v1 "celador.io/api/admissionregistration/v1"
	"github.com/google/go-cmp/cmp"
	upstreamv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	upstream "k8s.io/apiserver/pkg/admission/plugin/policy/validating"
	"k8s.io/apiserver/pkg/cel/environment"
	"k8s.io/apiserver/pkg/cel/openapi/resolver"
	"k8s.io/kube-openapi/pkg/validation/spec"

	"celador.io/admission/typecheck"
)

// servedTypes implements typecheck.Types.
type servedTypes struct {
	meta.RESTMapper
	resolver.SchemaResolver
}

func checker(t testing.TB, mapper meta.RESTMapper, schemas resolver.SchemaResolver) *typecheck.Checker {
	t.Helper()
	c, err := typecheck.New(environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion()), servedTypes{mapper, schemas})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// upstreamWarnings returns the warnings of Kubernetes' type checker. It removes random digits from
// the names of object types.
func upstreamWarnings(t testing.TB, mapper meta.RESTMapper, schemas resolver.SchemaResolver, policy *v1.ValidatingAdmissionPolicy) []v1.ExpressionWarning {
	t.Helper()
	content, err := json.Marshal(policy)
	if err != nil {
		t.Fatal(err)
	}
	var converted upstreamv1.ValidatingAdmissionPolicy
	if err := json.Unmarshal(content, &converted); err != nil {
		t.Fatal(err)
	}
	var warnings []v1.ExpressionWarning
	for _, w := range (&upstream.TypeChecker{SchemaResolver: schemas, RestMapper: mapper}).Check(&converted) {
		warnings = append(warnings, v1.ExpressionWarning{FieldRef: w.FieldRef, Warning: w.Warning})
	}
	return withTypeNames(warnings)
}

var generatedTypeName = regexp.MustCompile(`\b(Deployment|ReplicaSet|Pod|ConfigMap|Secret|Widget)\d+\b`)
var typeNamePrefix = regexp.MustCompile(`(apps|example\.com|)/v1\.(Deployment|ReplicaSet|Pod|ConfigMap|Secret|Widget)\b`)

func withTypeNames(warnings []v1.ExpressionWarning) []v1.ExpressionWarning {
	for i := range warnings {
		text := generatedTypeName.ReplaceAllString(warnings[i].Warning, "$1")
		warnings[i].Warning = typeNamePrefix.ReplaceAllString(text, "$2")
	}
	return warnings
}

// checkedByUpstream returns the warnings about fields that Kubernetes checks, too.
func checkedByUpstream(warnings []v1.ExpressionWarning) []v1.ExpressionWarning {
	var validations []v1.ExpressionWarning
	for _, w := range warnings {
		if strings.HasPrefix(w.FieldRef, "spec.validations") {
			validations = append(validations, w)
		}
	}
	return validations
}

// TestLikeUpstream compares the texts of warnings with Kubernetes'.
func TestLikeUpstream(t *testing.T) {
	described := builtIn.with(widget, widgetSpec(map[string]spec.Schema{
		"size":          *spec.Int64Property(),
		"color":         *spec.StringProperty(),
		"enabled":       *spec.BoolProperty(),
		"namespace":     *spec.StringProperty(),
		"dashed-name":   *spec.StringProperty(),
		"limits":        *spec.MapProperty(spec.Int64Property()),
		"parts":         *spec.ArrayProperty(objectOf(map[string]spec.Schema{"name": *spec.StringProperty()})),
		"day":           *spec.DateProperty(),
		"period":        *spec.StrFmtProperty("duration"),
		"amount":        extended(&spec.Schema{}, "x-kubernetes-int-or-string"),
		"nullableParts": nullable(objectOf(map[string]spec.Schema{"name": *spec.StringProperty()})),
	}))
	many := make([]string, 12)
	mapper := mapperFor(deployment, replicaSet, pod, configMap, secret, widget)
	for i := range many {
		kind := schema.GroupVersionKind{Group: "many.example.com", Version: "v1", Kind: string(rune('A' + i))}
		many[i] = strings.ToLower(kind.Kind) + "s"
		mapper.Add(kind, meta.RESTScopeNamespace)
		described = described.with(kind, objectOf(map[string]spec.Schema{"a": *spec.StringProperty()}))
	}
	const wrong = "object.spec.nothing == 1"
	widgets := rule("example.com", "v1", "widgets")
	for name, policy := range map[string]*v1.ValidatingAdmissionPolicy{
		"fits":                    policy("object.spec.replicas <= 5"),
		"undefined field":         policy("object.replicas <= 5"),
		"undefined, deep":         policy("object.spec.template.spec.containers.all(c, c.imagee.startsWith('r/'))"),
		"undefined, has":          policy("has(object.spec.nothing)"),
		"undefined, optional":     policy("object.spec.?nothing.orValue(1) == 1"),
		"undefined, twice":        policy("object.a == 1 && object.b == 1"),
		"undefined, two lines":    policy("object.spec.replicas > 1 &&\n  object.b == 1"),
		"undefined, oldObject":    policy("oldObject.spec.nothing == object.spec.replicas"),
		"wrong type":              policy("object.spec.replicas == 'five'"),
		"wrong type, null":        policy("object.spec.replicas == null"),
		"wrong type, object":      policy("object.spec == 5"),
		"wrong type, list":        policy("object.spec.template.spec.containers + [1] == []"),
		"wrong type, lists":       policy("object.metadata.finalizers + [1] == []"),
		"wrong type, alternative": policy("(object.spec.replicas > 1 ? object.spec.replicas : 'none') == 1"),
		"wrong type, map":         policy("object.metadata.labels['a'] == 1"),
		"wrong type, call":        policy("object.spec.replicas.startsWith('1')"),
		"wrong type, string":      policy("object.metadata.name + 1 == ''"),
		"no such function":        policy("object.spec.nothing()"),
		"no such variable":        policy("objekt.spec.replicas == 1"),
		"no params":               policy("object.spec.replicas <= params.replicas"),
		"no syntax":               policy("object.spec.replicas <="),
		"bad literal":             policy("object.metadata.name.matches('[')"),
		"mixed literal":           policy("[object.spec.replicas, object.metadata.name].size() == 2"),
		"not a boolean":           policy("object.spec.replicas"),
		"unicode":                 policy("object.metadata.name == 'ü' && object.nothing == 1"),

		"null":             policy("object == null || oldObject == null"),
		"null time":        policy("object.metadata.creationTimestamp != null"),
		"null field":       policy("object.spec.template.spec.securityContext == null"),
		"int or string":    policy("object.spec.strategy.rollingUpdate.maxSurge == '10%' || object.spec.strategy.rollingUpdate.maxSurge == 1"),
		"keyword":          policy("object.metadata.namespace == 'a'"),
		"labels":           policy("'a' in object.metadata.labels && object.metadata.labels.a == 'b'"),
		"request":          policy("request.operation == 'CREATE' && request.userInfo.groups.exists(g, g == 'a')"),
		"request, wrong":   policy("request.operation == 1 || request.nothing"),
		"namespace":        policy("namespaceObject.metadata.labels['a'] == 'b'"),
		"namespace, wrong": policy("namespaceObject.metadata.annotation.a == 'b'"),
		"authorizer":       policy("authorizer.group('').resource('pods').check('get').allowed()"),
		"authorizer, bad":  policy("authorizer.allowed()"),
		"comprehensions":   policy("object.spec.template.spec.containers.map(c, c.name).exists_one(n, n == 'a') && object.metadata.labels.all(k, k != '')"),
		"quantity":         policy("quantity('1').isLessThan(quantity('2')) && quantity('1') == 1"),

		"message":              policy("true", message("'at most ' + string(object.spec.replicas)")),
		"message, wrong":       policy("object.a == 1", message("object.spec.replicas + ' replicas'")),
		"message of the next":  policy("true", message("object.a"), validation("object.b == 1")),
		"several validations":  policy("object.a == 1", validation("true"), validation("object.b == 1")),
		"variable":             policy("variables.v == 'a'", variables("v", "object.spec.replicas")),
		"variable, missing":    policy("variables.nothing == 'a'", variables("v", "object.spec.replicas")),
		"variable, wrong":      policy("variables.v == 'a'", variables("v", "object.nothing")),
		"variable of variable": policy("variables.w == 'a'", variables("v", "object.spec.replicas", "w", "variables.v + 1")),
		"variable, too early":  policy("variables.v", variables("v", "variables.w", "w", "true")),
		"variable of lists":    policy("variables.v.exists(f, f == 1)", variables("v", "object.metadata.finalizers")),
		"variable, none":       policy("variables.v == 1"),

		"params":              policy("object.spec.replicas <= params.spec.size", params("example.com/v1", "Widget")),
		"params, undefined":   policy("object.spec.replicas <= params.spec.sizes", params("example.com/v1", "Widget")),
		"params, wrong type":  policy("object.spec.replicas == params.spec.color", params("example.com/v1", "Widget")),
		"params, built-in":    policy("object.spec.replicas <= int(params.data.size)", params("v1", "ConfigMap")),
		"params, built-in, x": policy("object.spec.replicas <= params.data.size", params("v1", "ConfigMap")),
		"params, null":        policy("params == null || params.data.a == 'a'", params("v1", "ConfigMap")),
		"params, unknown":     policy("object.spec.replicas <= params.anything.goes && object.a", params("v2", "Nothing")),

		"custom":                policy("object.spec.size > 1 && object.spec.parts.all(p, p.name != '') && object.spec.limits.a > 1 && object.spec.enabled", widgets),
		"custom, undefined":     policy("object.spec.sizes > 1", widgets),
		"custom, wrong types":   policy("object.spec.size == object.spec.color || object.spec.limits.a == 'a' || object.spec.parts[0].name > 1", widgets),
		"custom, int or string": policy("object.spec.amount == 1 || object.spec.amount == '1'", widgets),
		"custom, keyword":       policy("object.spec.namespace == 'b' && object.spec.namespace == 1", widgets),
		"custom, nullable":      policy("object.spec.nullableParts == null || object.spec.nullableParts.name == 'a' || object.spec.nullableParts.a", widgets),
		"custom, null times":    policy("object.spec.day == null || object.spec.period == null", widgets),
		"custom, metadata":      policy("object.metadata.name == 'a' && object.kind == 'b' && object.apiVersion == 1", widgets),

		"several types":           policy(wrong, rule("apps", "v1", "replicasets", "deployments"), rule("", "v1", "pods"), widgets),
		"one type of several":     policy("object.spec.replicas == 1", rule("apps", "v1", "deployments"), rule("", "v1", "pods")),
		"type twice":              policy(wrong, rule("apps", "v1", "deployments", "deployments"), rule("apps", "v1", "deployments")),
		"unknown resource":        policy(wrong, rule("apps", "v1", "nothings", "deployments")),
		"unknown version":         policy(wrong, rule("apps", "v2", "deployments")),
		"no schema":               policy(wrong, rule("", "v1", "services", "pods")),
		"no rules":                {Spec: v1.ValidatingAdmissionPolicySpec{Validations: []v1.Validation{{Expression: wrong}}}},
		"wildcard group":          policy(wrong, rule("*", "v1", "deployments")),
		"wildcard version":        policy(wrong, rule("apps", "*", "deployments")),
		"wildcard resource":       policy(wrong, rule("apps", "v1", "*"), rule("", "v1", "pods")),
		"wildcard among others":   policy(wrong, rule("apps", "v1", "*", "deployments")),
		"subresources":            policy(wrong, rule("apps", "v1", "deployments/scale", "deployments/*", "replicasets")),
		"ten types":               policy(wrong, rule("many.example.com", "v1", many[:10]...)),
		"more than ten":           policy(wrong, rule("many.example.com", "v1", many...)),
		"more than ten, unsorted": policy(wrong, rule("many.example.com", "v1", slices.Concat(many[6:], many[:6])...)),
		"rule after ten types":    policy(wrong, rule("many.example.com", "v1", many[:10]...), rule("", "v1", "pods")),
		"rules below ten":         policy(wrong, rule("many.example.com", "v1", many[:6]...), rule("many.example.com", "v1", many[6:]...)),
		"ten with repetitions":    policy(wrong, rule("many.example.com", "v1", slices.Repeat(many[:2], 6)...), rule("", "v1", "pods")),
		"products": policy(wrong, rules(v1.Rule{
			APIGroups: []string{"many.example.com", "apps"}, APIVersions: []string{"v2", "v1"}, Resources: []string{"bs", "as", "deployments"},
		})),
	} {
		t.Run(name, func(t *testing.T) {
			want := upstreamWarnings(t, mapper, described, policy)
			got := withTypeNames(checkedByUpstream(checker(t, mapper, described).CheckValidating(policy).Warnings()))
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("warnings differ (-upstream +celador):\n%s", diff)
			}
		})
	}
}
