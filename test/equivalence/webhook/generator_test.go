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

	"celador.io/celador/test/equivalence/served"
)

// dice decide about everything that is made up. IntN returns a number below n.
type dice interface{ IntN(n int) int }

// generator makes up scenarios and requests. Its values are few, so that webhooks are often
// asked, and conditions true about as often as not.
type generator struct {
	dice
	// custom is set when all is about custom resources, which are converted in place.
	custom bool
}

// chance is true in so many of a hundred cases.
func (g *generator) chance(percent int) bool { return g.IntN(100) >= 100-percent }

// pick returns one of the choices. The first is the simplest: dice that have nothing more
// to say take it.
func pick[T any](g *generator, choices ...T) T { return choices[g.IntN(len(choices))] }

// some returns from zero to most made-up things.
func some[T any](g *generator, most int, make func() T) []T {
	var result []T
	for range g.IntN(most + 1) {
		result = append(result, make())
	}
	return result
}

func (g *generator) scenario() scenario {
	var s scenario
	g.custom = g.chance(30)
	configurations := pick(g, 1, 1, 1, 2)
	for i := range pick(g, 1, 2, 3, 4, 6) {
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

// Answers that a webhook gives: the usual ones, changes, and the others.
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
	answer := pick(g, usualAnswers...)
	switch pick(g, 'u', 'u', 'c', 'c', 'o') {
	case 'c':
		answer = pick(g, changing...)
	case 'o':
		answer = pick(g, oddAnswers...)
	}
	h := asking(name, answer)
	h.FailurePolicy = pick(g, h.FailurePolicy, nil, new(v1.Ignore), new(v1.Ignore))
	h.ReinvocationPolicy = pick(g, h.ReinvocationPolicy, nil, new(v1.IfNeededReinvocationPolicy), new(v1.IfNeededReinvocationPolicy))
	h.TimeoutSeconds = pick(g, h.TimeoutSeconds, nil, new(int32(1)))
	if answer == "hang" && h.TimeoutSeconds == nil {
		h.TimeoutSeconds = new(int32(1))
	}
	if g.chance(10) {
		h.SideEffects = pick(g, new(v1.SideEffectClassNoneOnDryRun), new(v1.SideEffectClassSome), new(v1.SideEffectClassUnknown), nil)
	}
	if g.chance(10) {
		h.AdmissionReviewVersions = pick(g, []string{"v1beta1"}, []string{"v9", "v1beta1", "v1"}, []string{"v9"}, nil)
	}
	if g.chance(10) {
		pick(g, byService, nowhere)(&h)
	}
	if g.chance(50) {
		h.MatchPolicy = pick(g, h.MatchPolicy, h.MatchPolicy, new(v1.Exact), nil)
		h.Rules = append(some(g, 2, g.rule), g.rule())
	}
	if g.chance(20) {
		h.NamespaceSelector = g.selector("name", "blue", "red")
	}
	if g.chance(20) {
		h.ObjectSelector = g.selector("app", "shop", "moved")
	}
	if g.chance(75) {
		when(some(g, 3, func() string { return g.condition(g.IntN(2)) })...)(&h)
	}
	if g.chance(2) {
		when(pick(g, []string{search()}, []string{search(), search(), search()}, []string{search() + " && " + search()})...)(&h)
	}
	return h
}

// customHook makes up a webhook for custom resources in one of their versions.
func (g *generator) customHook(name string) hook {
	version, change := "v1", "shrink"
	if g.chance(50) {
		version, change = "v2", "resize"
	}
	h := asking(name, pick(g, "allow", "allow", change, change, "label", "warn"), matching(rule("example.com", version, "widgets")))
	h.ReinvocationPolicy = pick(g, h.ReinvocationPolicy, new(v1.IfNeededReinvocationPolicy))
	if g.chance(50) {
		when(pick(g, size+" > 2", size+" > 2", size+" <= 2", "object.spec.replicas > 2 || "+failing))(&h)
	}
	return h
}

func (g *generator) rule() v1.RuleWithOperations {
	r := pick(g, rule("apps", "v1", "deployments"), rule("*", "*", "*"), rule("apps", "*", "deployments/*"), rule("extensions", "v1beta1", "deployments"), rule("extensions", "v1beta1", "deployments"),
		rule("example.com", "v1", "widgets"), rule("example.com", "v2", "widgets"), rule("", "v1", "pods/*"), rule("*", "*", "*/scale"), rule("apps", "v1beta1", "deployments"), rule("apps", "v9", "deployments"))
	r.Operations = pick(g, r.Operations, r.Operations, []v1.OperationType{v1.Create}, []v1.OperationType{v1.Update, v1.Create}, []v1.OperationType{v1.Delete}, []v1.OperationType{v1.Connect})
	r.Scope = pick(g, r.Scope, r.Scope, nil, new(v1.NamespacedScope), new(v1.ClusterScope))
	return r
}

func (g *generator) selector(key string, values ...string) *metav1.LabelSelector {
	return pick(g, labelled(key, values[0]), labelled(key, pick(g, values...)), &metav1.LabelSelector{}, nil,
		having(key, metav1.LabelSelectorOpIn, values...), having(key, metav1.LabelSelectorOpNotIn, values[0]),
		having(key, metav1.LabelSelectorOpExists), having(key, metav1.LabelSelectorOpDoesNotExist), having(key, "Resembles"))
}

// Conditions, and what combines two. Not all are what they should be.
var (
	simple = []string{
		"true", "false", "true", creates, "request.operation != 'DELETE'", "object == null", "oldObject != null", "object.spec.replicas > 5", "object.spec.replicas == 9", "object.spec.replicas == oldObject.spec.replicas",
		"object.spec.size > 5", "has(object.spec.size)", "has(object.metadata.labels.hook)", "!has(object.metadata.labels.hook)", "object.metadata.labels.app == 'shop'", "has(object.metadata.labels) && 'title' in object.metadata.labels",
		"object.apiVersion == 'apps/v1'", "object.kind == 'Deployment'", "request.kind.group == 'apps'", "request.resource.group == 'apps'", "request.requestKind.version == 'v1'", "request.requestResource.resource == 'deployments'", "has(request.subResource)",
		"request.dryRun", "request.namespace == 'blue'", "request.name == 'web'", "'developers' in request.userInfo.groups", "request.userInfo.username.startsWith('system:')", "has(request.options.dryRun)", leases, reads,
		"authorizer.requestResource.check('write').allowed()", "authorizer.requestResource.check('fail').errored()", "authorizer.group('apps').resource('deployments').check('get').allowed()",
		"object.spec.template.spec.containers.all(c, c.image.startsWith('registry.example.com/'))", "object.spec.parts.exists(p, p == 'b')", "namespaceObject == null", failing, missing, invalid, wrongType, "variables.a",
	}
	// size is that of a custom resource in any version.
	size     = "(has(object.spec.size) ? object.spec.size : object.spec.replicas)"
	composed = []string{"(%s) && (%s)", "(%s) || (%s)", "(%s) == (%s)", "['x', 'y'].all(x, x == 'x' || (%s) && (%s))", "(%s) ? false : (%s)"}
)

// condition makes up an expression with so many levels of operators.
func (g *generator) condition(depth int) string {
	if depth == 0 {
		return pick(g, simple...)
	}
	template := pick(g, composed...)
	return fmt.Sprintf(template, g.condition(depth-1), g.condition(depth-1))
}

// requests returns made-up ones and, of the fixed ones, a few.
func (g *generator) requests() map[string]request {
	result := map[string]request{}
	for i := range 3 {
		r := creation(pick(g, "blue", "red", "bare"), pick(g, "web", "api"), int32(g.IntN(11)))
		if g.custom || g.chance(40) {
			r.namespace, r.resource, r.kind, r.object = "blue", served.Widgets, served.Widget, widget("v1", r.name, int64(g.IntN(11)))
			if g.chance(50) {
				r.resource, r.kind, r.object = served.NewerWidgets, served.NewerWidget, widget("v2", r.name, int64(g.IntN(11)))
			}
		}
		if g.chance(20) {
			r.user = robot
		}
		if g.chance(20) {
			r.touch = pick(g, touch, func(runtime.Object) {})
		}
		if g.chance(5) {
			r.patience = pick(g, -1, 1900*time.Millisecond)
		}
		r.dryRun = g.chance(10)
		switch pick(g, admission.Create, admission.Create, admission.Update, admission.Delete) {
		case admission.Update:
			r.operation, r.options = admission.Update, &metav1.UpdateOptions{}
			if r.old = r.object; r.kind == served.Deployment {
				r.old = deploy(r.namespace, r.name, int32(g.IntN(11)))
			}
		case admission.Delete:
			r.operation, r.object, r.old, r.options, r.touch = admission.Delete, nil, r.object, &metav1.DeleteOptions{}, nil
		}
		result[fmt.Sprint("made up ", i)] = r
	}
	for range 3 {
		name := pick(g, fixedNames...)
		result[name] = fixed[name]
	}
	return result
}
