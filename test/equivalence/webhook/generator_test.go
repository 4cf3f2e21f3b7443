// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"fmt"
	"time"

	v1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/admission"

	"celador.io/celador/test/equivalence/harness"
)

// generator generates scenarios and requests. It chooses from few values, so that
// webhooks are often called and their conditions often true.
type generator struct {
	harness.Generator
	// custom scenarios are about custom resources only, whose objects are converted in place.
	custom bool
}

func (g *generator) scenario() scenario {
	var s scenario
	g.custom = g.Chance(30)
	configurations := harness.Pick(g, 1, 1, 1, 2)
	for i := range harness.Pick(g, 1, 2, 3, 4, 6) {
		make := g.hook
		if g.custom {
			make = g.customHook
		}
		h := make(fmt.Sprintf("h%d", i))
		h.Configuration = fmt.Sprint("hooks", i*configurations/6)
		s = append(s, h)
	}
	return s
}

// Answers of generated webhooks: usual ones, changes, and invalid ones.
var (
	usualAnswers = []string{"allow", "allow", "deny", "deny with message", "warn", "note", "deny and warn", "allow with status"}
	changing     = []string{"label", "relabel", "retitle", "move", "shrink", "resize", "label and warn", "label shops", "undefault", "slow label", "patch with same", "patch nothing"}
	oddAnswers   = []string{
		"deny for a reason", "deny with 200", "deny with 700", "note badly", "patch badly", "patch no JSON", "patch and fail", "patch what is not", "patch with a list", "patch another way",
		"patch with no type", "patch empty type", "type of no patch", "deny with patch", "other UID", "other version", "unknown version", "other kind", "no response", "garbage", "nothing", "list",
		"failure", "failure with 200", "crash", "overload", "elsewhere", "unreachable", "slow", "hang",
	}
)

func (g *generator) hook(name string) hook {
	answer := harness.Pick(g, usualAnswers...)
	switch harness.Pick(g, 'u', 'u', 'c', 'c', 'o') {
	case 'c':
		answer = harness.Pick(g, changing...)
	case 'o':
		answer = harness.Pick(g, oddAnswers...)
	}
	h := asking(name, answer)
	h.FailurePolicy = harness.Pick(g, h.FailurePolicy, nil, new(v1.Ignore), new(v1.Ignore))
	h.ReinvocationPolicy = harness.Pick(g, h.ReinvocationPolicy, nil, new(v1.IfNeededReinvocationPolicy), new(v1.IfNeededReinvocationPolicy))
	h.TimeoutSeconds = harness.Pick(g, h.TimeoutSeconds, nil, new(int32(1)))
	if answer == "hang" && h.TimeoutSeconds == nil {
		h.TimeoutSeconds = new(int32(1))
	}
	if g.Chance(10) {
		h.SideEffects = harness.Pick(g, new(v1.SideEffectClassNoneOnDryRun), new(v1.SideEffectClassSome), new(v1.SideEffectClassUnknown), nil)
	}
	if g.Chance(10) {
		h.AdmissionReviewVersions = harness.Pick(g, []string{"v1beta1"}, []string{"v9", "v1beta1", "v1"}, []string{"v9"}, nil)
	}
	if g.Chance(10) {
		harness.Pick(g, byService, nowhere)(&h)
	}
	if g.Chance(50) {
		h.MatchPolicy = harness.Pick(g, h.MatchPolicy, h.MatchPolicy, new(v1.Exact), nil)
		h.Rules = append(harness.Some(g, 2, func(int) v1.RuleWithOperations { return g.rule() }), g.rule())
	}
	if g.Chance(20) {
		h.NamespaceSelector = g.selector("name", "blue", "red")
	}
	if g.Chance(20) {
		h.ObjectSelector = g.selector("app", "shop", "moved")
	}
	if g.Chance(75) {
		when(harness.Some(g, 3, func(int) string { return g.condition(g.IntN(2)) })...)(&h)
	}
	if g.Chance(2) {
		when(harness.Pick(g, []string{search()}, []string{search(), search(), search()}, []string{search() + " && " + search()})...)(&h)
	}
	return h
}

// customHook generates a webhook for custom resources in one of their versions.
func (g *generator) customHook(name string) hook {
	version, change := "v1", "shrink"
	if g.Chance(50) {
		version, change = "v2", "resize"
	}
	h := asking(name, harness.Pick(g, "allow", "allow", change, change, "label", "warn"), matching(rule("example.com", version, "widgets")))
	h.ReinvocationPolicy = harness.Pick(g, h.ReinvocationPolicy, new(v1.IfNeededReinvocationPolicy))
	if g.Chance(50) {
		when(harness.Pick(g, size+" > 2", size+" > 2", size+" <= 2", "object.spec.replicas > 2 || "+failing))(&h)
	}
	return h
}

// selector returns a generated selector, or nil.
func (g *generator) selector(key string, values ...string) *metav1.LabelSelector {
	if g.Chance(12) {
		return nil
	}
	return g.Selector(key, values...)
}

func (g *generator) rule() v1.RuleWithOperations {
	r := harness.Pick(g, rule("apps", "v1", "deployments"), rule("*", "*", "*"), rule("apps", "*", "deployments/*"), rule("extensions", "v1beta1", "deployments"), rule("extensions", "v1beta1", "deployments"),
		rule("example.com", "v1", "widgets"), rule("example.com", "v2", "widgets"), rule("", "v1", "pods/*"), rule("*", "*", "*/scale"), rule("apps", "v1beta1", "deployments"), rule("apps", "v9", "deployments"))
	r.Operations = harness.Pick(g, r.Operations, r.Operations, []v1.OperationType{v1.Create}, []v1.OperationType{v1.Update, v1.Create}, []v1.OperationType{v1.Delete}, []v1.OperationType{v1.Connect})
	r.Scope = harness.Pick(g, r.Scope, r.Scope, nil, new(v1.NamespacedScope), new(v1.ClusterScope))
	return r
}

// Match conditions, and operators that combine two of them. Some are errors.
var (
	simple = []string{
		"true", "false", "true", creates, "request.operation != 'DELETE'", "object == null", "oldObject != null", "object.spec.replicas > 5", "object.spec.replicas == 9", "object.spec.replicas == oldObject.spec.replicas",
		"object.spec.size > 5", "has(object.spec.size)", "has(object.metadata.labels.hook)", "!has(object.metadata.labels.hook)", "object.metadata.labels.app == 'shop'", "has(object.metadata.labels) && 'title' in object.metadata.labels",
		"object.apiVersion == 'apps/v1'", "object.kind == 'Deployment'", "request.kind.group == 'apps'", "request.resource.group == 'apps'", "request.requestKind.version == 'v1'", "request.requestResource.resource == 'deployments'", "has(request.subResource)",
		"request.dryRun", "request.namespace == 'blue'", "request.name == 'web'", "'developers' in request.userInfo.groups", "request.userInfo.username.startsWith('system:')", "has(request.options.dryRun)", leases, reads,
		"authorizer.requestResource.check('write').allowed()", "authorizer.requestResource.check('fail').errored()", "authorizer.group('apps').resource('deployments').check('get').allowed()",
		"object.spec.template.spec.containers.all(c, c.image.startsWith('registry.example.com/'))", "object.spec.parts.exists(p, p == 'b')", "namespaceObject == null", failing, missing, invalid, wrongType, "variables.a",
	}
	// size is the size of a widget in either version.
	size     = "(has(object.spec.size) ? object.spec.size : object.spec.replicas)"
	composed = []string{"(%s) && (%s)", "(%s) || (%s)", "(%s) == (%s)", "['x', 'y'].all(x, x == 'x' || (%s) && (%s))", "(%s) ? false : (%s)"}
)

// condition generates an expression with nested operators.
func (g *generator) condition(depth int) string {
	if depth == 0 {
		return harness.Pick(g, simple...)
	}
	template := harness.Pick(g, composed...)
	return fmt.Sprintf(template, g.condition(depth-1), g.condition(depth-1))
}

// requests returns generated requests and a few of the fixed ones.
func (g *generator) requests() map[string]request {
	result := map[string]request{}
	for i := range 3 {
		r := objects.Creation(harness.Pick(g, "blue", "red", "bare"), harness.Pick(g, "web", "api"), int32(g.IntN(11)))
		if g.custom || g.Chance(40) {
			r.Namespace, r.Resource, r.Kind, r.Object = "blue", harness.Widgets, harness.Widget, widget("v1", r.Name, int64(g.IntN(11)))
			if g.Chance(50) {
				r.Resource, r.Kind, r.Object = harness.NewerWidgets, harness.NewerWidget, widget("v2", r.Name, int64(g.IntN(11)))
			}
		}
		if g.Chance(20) {
			r.User = harness.Robot
		}
		if g.Chance(20) {
			r.Touch = harness.Pick(g, touch, func(runtime.Object) {})
		}
		if g.Chance(5) {
			r.Timeout = harness.Pick(g, time.Duration(-1), 1900*time.Millisecond)
		}
		r.DryRun = g.Chance(10)
		switch harness.Pick(g, admission.Create, admission.Create, admission.Update, admission.Delete) {
		case admission.Update:
			r.Operation, r.Options = admission.Update, &metav1.UpdateOptions{}
			if r.Old = r.Object; r.Kind == harness.Deployment {
				r.Old = deploy(r.Namespace, r.Name, int32(g.IntN(11)))
			}
		case admission.Delete:
			r.Operation, r.Object, r.Old, r.Options, r.Touch = admission.Delete, nil, r.Object, &metav1.DeleteOptions{}, nil
		}
		result[fmt.Sprint("generated ", i)] = r
	}
	for range 3 {
		name := harness.Pick(g, fixedNames...)
		result[name] = fixed[name]
	}
	return result
}
