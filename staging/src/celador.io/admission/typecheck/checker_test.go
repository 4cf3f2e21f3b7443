// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package typecheck_test

import (
	"strings"
	"sync"
	"testing"

	v1 "celador.io/api/admissionregistration/v1"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/kube-openapi/pkg/validation/spec"

	"celador.io/admission/typecheck"
)

// found is a Finding without its message.
type found struct {
	field, message string
	kind, params   schema.GroupVersionKind
}

func findings(r *typecheck.Result) []found {
	var all []found
	for _, f := range r.Findings {
		first, _, _ := strings.Cut(f.Message, "\n")
		_, text, _ := strings.Cut(first, ": ")
		all = append(all, found{f.Field, text, f.Type, f.Params})
	}
	return all
}

func TestEveryField(t *testing.T) {
	undefined := func(field, at string, kind schema.GroupVersionKind) found {
		return found{field: field, message: "<input>:1:" + at + ": undefined field 'nothing'", kind: kind}
	}
	all := policy("object.spec.nothing == 1 && object.spec.selector == null", message("oldObject.nothing"),
		validation("true"), validation("variables.nothing"),
		condition("true"), condition("has(object.nothing)"),
		variables("good", "object.spec", "bad", "object.spec.nothing", "worse", "variables.good.nothing"),
		annotation("'a'"), annotation("string(request.nothing)"))
	for name, test := range map[string]struct {
		policy *v1.ValidatingAdmissionPolicy
		want   []found
	}{
		"all fields": {all, []found{
			undefined("spec.matchConditions[1].expression", "4", deployment),
			undefined("spec.variables[1].expression", "12", deployment),
			undefined("spec.variables[2].expression", "15", deployment),
			undefined("spec.validations[0].expression", "12", deployment),
			undefined("spec.validations[0].messageExpression", "10", deployment),
			undefined("spec.validations[2].expression", "10", deployment),
			undefined("spec.auditAnnotations[1].valueExpression", "15", deployment),
		}},
		"types sorted within an expression": {
			policy("object.nothing", rule("apps", "v1", "replicasets", "deployments"), rule("", "v1", "pods"), message("object.nothing")),
			[]found{
				undefined("spec.validations[0].expression", "7", pod),
				undefined("spec.validations[0].expression", "7", deployment),
				undefined("spec.validations[0].expression", "7", replicaSet),
				undefined("spec.validations[0].messageExpression", "7", pod),
				undefined("spec.validations[0].messageExpression", "7", deployment),
				undefined("spec.validations[0].messageExpression", "7", replicaSet),
			},
		},
		"variables by type": {
			policy("variables.spec.replicas == 1", variables("spec", "object.spec"), rule("", "v1", "pods"), rule("apps", "v1", "deployments")),
			[]found{{field: "spec.validations[0].expression", message: "<input>:1:15: undefined field 'replicas'", kind: pod}},
		},
		"variables in conditions": {
			policy("true", condition("variables.v"), variables("v", "true")),
			[]found{{field: "spec.matchConditions[0].expression", message: "<input>:1:10: undefined field 'v'", kind: deployment}},
		},
		"authorizer in messages": {
			policy("authorizer.requestResource.check('get').allowed()", message("authorizer.path('/').check('get').reason()")),
			[]found{{field: "spec.validations[0].messageExpression", message: "<input>:1:1: undeclared reference to 'authorizer' (in container '')", kind: deployment}},
		},
		"only the errors remain": {
			policy("object.spec != object.metadata && object.spec != 5 && object.metadata != object.spec.template"),
			[]found{{field: "spec.validations[0].expression", message: "<input>:1:47: found no matching overload for '_!=_' applied to '(apps/v1.Deployment.spec, int)'", kind: deployment}},
		},
		"nothing": {policy("object.spec.replicas == 1"), nil},
	} {
		t.Run(name, func(t *testing.T) {
			result := checker(t, mapperFor(deployment, replicaSet, pod), builtIn).CheckValidating(test.policy)
			if diff := cmp.Diff(test.want, findings(result), cmp.AllowUnexported(found{})); diff != "" {
				t.Errorf("findings differ (-want +got):\n%s", diff)
			}
		})
	}
}

func TestWarnings(t *testing.T) {
	result := checker(t, mapperFor(deployment, pod), builtIn).CheckValidating(policy("true",
		variables("v", "object.replicas"), rule("apps", "v1", "deployments"), rule("", "v1", "pods")))
	want := []v1.ExpressionWarning{{
		FieldRef: "spec.variables[0].expression",
		Warning: `/v1, Kind=Pod: ERROR: <input>:1:7: undefined field 'replicas'
 | object.replicas
 | ......^

apps/v1, Kind=Deployment: ERROR: <input>:1:7: undefined field 'replicas'
 | object.replicas
 | ......^
`}}
	if diff := cmp.Diff(want, result.Warnings()); diff != "" {
		t.Errorf("warnings differ (-want +got):\n%s", diff)
	}
}

// Expressions may test request.operation or compare object with null before they read a field, so
// rules for particular operations cause no findings.
func TestOperations(t *testing.T) {
	for _, o := range []v1.OperationType{v1.Create, v1.Update, v1.Delete, v1.Connect, v1.OperationAll} {
		for _, source := range []string{
			"oldObject == null || oldObject.spec.replicas <= object.spec.replicas",
			"object == null || object.spec.replicas > 1",
			"request.operation != 'UPDATE' || object.spec.replicas == oldObject.spec.replicas",
			"(request.operation == 'DELETE' ? oldObject : object).spec.replicas > 1",
			"(object != null ? object : oldObject).metadata.name != ''",
			"object == oldObject",
		} {
			p := policy(source, rule("apps", "v1", "deployments"), operations(o))
			if warnings := checker(t, mapperFor(deployment), builtIn).CheckValidating(p).Warnings(); warnings != nil {
				t.Errorf("%s: %s: %v", o, source, warnings)
			}
		}
	}
}

// Realistic policies have no findings for any of the kinds that they match.
func TestInTheWild(t *testing.T) {
	workloads := rule("apps", "v1", "deployments", "replicasets")
	for name, p := range map[string]*v1.ValidatingAdmissionPolicy{
		"replica limit": policy("object.spec.replicas <= int(params.data.maxReplicas)", workloads, params("v1", "ConfigMap"),
			message("'at most ' + params.data['maxReplicas'] + ' replicas in ' + namespaceObject.metadata.name")),
		"images by environment": policy("variables.exempt || variables.containers.all(c, c.image.startsWith(variables.environment + '.example.com/'))", workloads,
			variables(
				"environment", "'environment' in namespaceObject.metadata.labels ? namespaceObject.metadata.labels['environment'] : 'prod'",
				"exempt", "has(object.metadata.labels) && 'exempt' in object.metadata.labels && object.metadata.labels['exempt'] == 'true'",
				"containers", "object.spec.template.spec.containers"),
			message("'only ' + variables.environment + ' images are allowed'")),
		"all containers": policy("variables.all.all(c, has(c.securityContext) && has(c.securityContext.privileged) ? !c.securityContext.privileged : true)", rule("", "v1", "pods"),
			variables(
				"containers", "has(object.spec.containers) ? object.spec.containers : []",
				"initContainers", "has(object.spec.initContainers) ? object.spec.initContainers : []",
				"ephemeralContainers", "has(object.spec.ephemeralContainers) ? object.spec.ephemeralContainers : []",
				"all", "variables.containers + variables.initContainers + variables.ephemeralContainers"),
			annotation("variables.all.map(c, c.name).join(',')")),
		"limits":           policy("object.spec.template.spec.containers.all(c, c.?resources.limits['memory'].hasValue() && quantity(c.resources.limits['memory']).isLessThan(quantity('1Gi')))", workloads),
		"security context": policy("object.spec.template.spec.?securityContext.orValue({}).?runAsNonRoot.orValue(false)", workloads),
		"immutable label":  policy("object.metadata.?labels[?'team'] == oldObject.metadata.?labels[?'team']", workloads, operations(v1.Update)),
		"node name":        policy("request.userInfo.extra['authentication.kubernetes.io/node-name'][0] == object.spec.nodeName", rule("", "v1", "pods")),
		"age":              policy("timestamp(object.metadata.creationTimestamp) > timestamp('2020-01-01T00:00:00Z')", workloads),
		"owner":            policy("object.metadata.?ownerReferences.orValue([]).exists(o, o.kind == 'A' && o.?controller.orValue(false))", workloads),
		"own rights":       policy("authorizer.group('apps').resource('deployments').namespace(object.metadata.namespace).check('get').allowed() || authorizer.requestResource.check('escalate').allowed()", workloads, condition("!('system:masters' in request.userInfo.groups)")),
	} {
		t.Run(name, func(t *testing.T) {
			result := checker(t, mapperFor(deployment, replicaSet, pod, configMap), builtIn).CheckValidating(p)
			if len(result.Types) == 0 || len(result.Findings) > 0 {
				t.Errorf("types %v, findings %v", result.Types, findings(result))
			}
		})
	}
}

func TestParams(t *testing.T) {
	const field = "spec.validations[0].expression"
	described := builtIn.with(widget, widgetSpec(map[string]spec.Schema{"size": *spec.Int64Property(), "color": *spec.StringProperty()}))
	withWidget := params("example.com/v1", "Widget")
	for name, test := range map[string]struct {
		policy *v1.ValidatingAdmissionPolicy
		want   []found
	}{
		"fit":                       {policy("object.spec.replicas == params.spec.size", withWidget), nil},
		"undefined in params":       {policy("object.spec.replicas == params.spec.sizes", withWidget), []found{{field, "<input>:1:36: undefined field 'sizes'", deployment, widget}}},
		"undefined in object":       {policy("object.spec.nothing == params.spec.size", withWidget), []found{{field, "<input>:1:12: undefined field 'nothing'", deployment, schema.GroupVersionKind{}}}},
		"undefined in both":         {policy("object.spec.nothing == params.spec.sizes", withWidget), []found{{field, "<input>:1:12: undefined field 'nothing'", deployment, schema.GroupVersionKind{}}}},
		"types that do not match":   {policy("object.spec.replicas == params.spec.color", withWidget), []found{{field, "<input>:1:22: found no matching overload for '_==_' applied to '(int, string)'", deployment, widget}}},
		"through a variable":        {policy("variables.v == 'a'", withWidget, variables("v", "params.spec.size")), []found{{field, "<input>:1:13: found no matching overload for '_==_' applied to '(int, string)'", deployment, widget}}},
		"unknown kind is no reason": {policy("object.spec.nothing == params.spec.size", params("v1", "Nothing")), []found{{field, "<input>:1:12: undefined field 'nothing'", deployment, schema.GroupVersionKind{}}}},
	} {
		t.Run(name, func(t *testing.T) {
			result := checker(t, mapperFor(deployment, widget), described).CheckValidating(test.policy)
			if diff := cmp.Diff(test.want, findings(result), cmp.AllowUnexported(found{})); diff != "" {
				t.Errorf("findings differ (-want +got):\n%s", diff)
			}
		})
	}
}

// A checker that knows only built-in types finds the errors against built-in types.
func TestBuiltInTypesOnly(t *testing.T) {
	described := builtIn.with(widget, widgetSpec(map[string]spec.Schema{"color": *spec.StringProperty()}))
	c := checker(t, mapperFor(deployment, widget), described)
	p := policy("object.spec.replicas == params.spec.color", params("example.com/v1", "Widget"),
		rule("apps", "v1", "deployments"), rule("example.com", "v1", "widgets"), validation("object.spec.nothing == 1"))
	const first, second, undefined = "spec.validations[0].expression", "spec.validations[1].expression", "<input>:1:12: undefined field 'nothing'"
	all := []found{
		{first, "<input>:1:22: found no matching overload for '_==_' applied to '(int, string)'", deployment, widget},
		{first, "<input>:1:12: undefined field 'replicas'", widget, schema.GroupVersionKind{}},
		{second, undefined, deployment, schema.GroupVersionKind{}},
		{second, undefined, widget, schema.GroupVersionKind{}},
	}
	if diff := cmp.Diff(all, findings(c.CheckValidating(p)), cmp.AllowUnexported(found{})); diff != "" {
		t.Errorf("with all types, findings differ (-want +got):\n%s", diff)
	}
	some := c.With(servedTypes{mapperFor(deployment, widget), builtIn}).CheckValidating(p)
	if diff := cmp.Diff(all[2:3], findings(some), cmp.AllowUnexported(found{})); diff != "" {
		t.Errorf("with built-in types, findings differ (-want +got):\n%s", diff)
	}
}

func TestConcurrentUse(t *testing.T) {
	c, p := checker(t, mapperFor(deployment, pod), builtIn), policy("object.spec.containers + object.spec.initContainers == []", rule("apps", "v1", "deployments"), rule("", "v1", "pods"), message("object.a"))
	m := mutatingPolicy([]v1.Mutation{inline("Object{spec: Object.spec{replicas: object.a}}")}, rule("apps", "v1", "deployments"), rule("", "v1", "pods"))
	before, want := p.DeepCopy(), c.CheckValidating(p)
	mutatingBefore, mutatingWant := m.DeepCopy(), c.CheckMutating(m)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if diff := cmp.Diff(mutatingWant, c.CheckMutating(m), cmpopts.EquateErrors()); diff != "" {
				t.Errorf("results for mutations differ (-first +later):\n%s", diff)
			}
			if diff := cmp.Diff(want, c.CheckValidating(p), cmpopts.EquateErrors()); diff != "" {
				t.Errorf("results differ (-first +later):\n%s", diff)
			}
		})
	}
	all.Wait()
	if diff := cmp.Diff(mutatingBefore, m); diff != "" {
		t.Errorf("mutating policy changed (-before +after):\n%s", diff)
	}
	if diff := cmp.Diff(before, p); diff != "" {
		t.Errorf("policy changed (-before +after):\n%s", diff)
	}
}
