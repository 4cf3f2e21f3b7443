// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package mutating

import (
	"fmt"
	"strings"

	v1 "celador.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/admission"

	"celador.io/celador/test/equivalence/harness"
)

// generator generates scenarios and requests. It chooses from few values, so that
// policies often match and often change the same fields.
type generator struct {
	harness.Generator
	// conditional scenarios have match conditions. After match conditions, Kubernetes' plugin
	// cannot take over parts of objects, which is a wanted difference, so the mutations of
	// conditional scenarios do not.
	conditional bool
}

func newGenerator(seed, number uint64) *generator {
	return &generator{Generator: harness.NewGenerator(seed, number)}
}

// scenario generates at most three policies with a binding each, or one policy with two bindings,
// so that there are at most six orders of evaluation.
func (g *generator) scenario() scenario {
	var s scenario
	g.conditional = g.Chance(40)
	if g.Chance(50) {
		s.Params = []*unstructured.Unstructured{limit("blue", "a", int64(g.IntN(11)), "x")}
	}
	for p := range harness.Pick(g, 1, 1, 2, 2, 2, 3) {
		policy := policyOf(fmt.Sprintf("p%d.example.com", p), g.policy())
		s.Policies = append(s.Policies, policy)
		s.Bindings = append(s.Bindings, g.binding(fmt.Sprintf("b%d.example.com", p), policy))
	}
	if len(s.Policies) == 1 && g.Chance(20) {
		s.Bindings = append(s.Bindings, g.binding("b1.example.com", s.Policies[0]))
	}
	return s
}

var rules = map[string][]v1.NamedRuleWithOperations{
	"Pod":        {rule("", "v1", "pods"), rule("*", "*", "*"), rule("", "v1", "pods", v1.Create)},
	"Deployment": {rule("apps", "v1", "deployments"), rule("*", "*", "*"), rule("apps", "*", "deployments/*"), rule("extensions", "v1beta1", "deployments")},
	"Widget":     {rule("example.com", "*", "widgets"), rule("example.com", "v1", "widgets"), rule("example.com", "v2", "widgets"), rule("*", "*", "*")},
}

func (g *generator) policy() spec {
	kind := harness.Pick(g, "Deployment", "Deployment", "Pod", "Pod", "Widget")
	s := spec{
		FailurePolicy:      harness.Pick(g, nil, nil, new(v1.Ignore)),
		ReinvocationPolicy: harness.Pick(g, v1.NeverReinvocationPolicy, v1.IfNeededReinvocationPolicy),
		MatchConstraints:   matching(harness.Pick(g, v1.Equivalent, v1.Equivalent, v1.Exact), harness.Pick(g, rules[kind]...)),
	}
	if g.Chance(15) {
		s.ParamKind = limitKind
	}
	if g.Chance(10) {
		s.MatchConstraints.ObjectSelector.MatchLabels = map[string]string{"app": harness.Pick(g, "shop", "moved")}
	}
	if g.Chance(10) {
		s.MatchConstraints.NamespaceSelector.MatchLabels = map[string]string{"name": harness.Pick(g, "blue", "red")}
	}
	if g.Chance(25) {
		let("a", harness.Pick(g, "object.metadata.name", "object.spec.replicas", failing, invalid, "'a'"), "b", "variables.a")(&s)
	}
	if g.conditional && g.Chance(60) {
		when(harness.Some(g, 2, func(int) string { return g.condition() })...)(&s)
	}
	for range harness.Pick(g, 1, 1, 2, 3) {
		if g.Chance(65) {
			s.Mutations = append(s.Mutations, configuration(g.configuration(kind)))
			continue
		}
		s.Mutations = append(s.Mutations, patch(g.patch(kind)))
	}
	return s
}

func (g *generator) condition() string {
	return harness.Pick(g, "true", "has(object.spec)", "object.kind != 'Pod'", "!has(object.metadata.labels.touched)", "has(object.metadata.labels) && 'new' in object.metadata.labels", "request.operation == 'CREATE'",
		"false", failing, "object.metadata.name == 'web'", "'developers' in request.userInfo.groups", "authorizer.requestResource.check('read').allowed()", invalid, wrongType, "has(variables.a)", "params == null || params.spec.most > 3")
}

func (g *generator) configuration(kind string) string {
	made := g.object("Object", configurable[kind], 0)
	switch harness.Pick(g, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3) {
	case 1:
		return "has(object.metadata.labels.new) ? " + made + " : " + g.object("Object", configurable[kind], 0)
	case 2:
		return harness.Pick(g, labelled("v", "string(variables.b)"), labelled("v", "string(params.spec.most)"), labelled("v", "request.userInfo.username"), increment, labelled("v", "oldObject == null ? 'x' : oldObject.metadata.name"), labelled("v", "object.metadata.labels['v'] + 'x'"))
	case 3:
		return harness.Pick(g, one, two, "Object{}", invalid, "Object.spec{}", "dyn(1)")
	}
	return made
}

// paths maps kinds to JSON pointers, some of which do not exist in the objects.
var paths = map[string][]string{
	"Pod": {"/spec/containers/0/image", "/spec/containers/0", "/spec/containers/-", "/spec/containers/1/env", "/spec/volumes", "/spec/volumes/0/emptyDir", "/spec/initContainers", "/spec/containers/0/ports/0/protocol", "/spec/nodeSelector/disk",
		"/spec/priority", "/spec/containers/0/resources/limits/cpu", "/metadata/finalizers/-", "/spec/restartPolicy", "/spec/containers/7", "/metadata/annotations/a~1b~0c"},
	"Deployment": {"/spec/replicas", "/spec/template/spec/containers/0/image", "/spec/template/spec/containers/-", "/spec/template/spec/containers/1", "/spec/paused", "/spec/strategy", "/spec/template/metadata/labels/app", "/spec/template/spec/tolerations/0", "/spec/selector"},
	"Widget":     {"/spec/replicas", "/spec/size", "/spec/parts/0", "/spec/parts/-", "/spec/slots/0/depth", "/spec/free", "/spec/free/a", "/spec/frame/color", "/spec/tags", "/spec"},
}

var (
	// The pointer to the whole object is missing, because a patch must not change its identity.
	commonPaths = []string{"/metadata/labels/new", "/metadata/labels", "/metadata/labels/app", "/metadata/annotations", "/metadata/annotations/a", "/none", "/spec/none/none"}
	patchValues = []string{"'x'", "5", "true", `{"a": "b"}`, "[]", `{"name": "n", "image": "i:1"}`, "object.metadata.name", "null", "0.5", "Object{}", "string(variables.a)", "params.spec.most", "b'a'", "object.none", "['a', 'b']", "'<é>'"}
	parts       = []string{"object.metadata.labels", "object.spec", "[object.spec]", "object.?spec.containers.orValue([])", "object.?spec.template.spec.containers[0].orValue(1)", "{'a': object.metadata.labels}", "object.metadata",
		"object.?spec.containers.orValue([]).filter(c, c.name != 'main') + [Object.spec.containers{name: 'n', image: 'i:1'}]",
		"[Object.spec.containers{name: 'n', image: 'i:1', env: object.?spec.containers[0].?env.orValue([]).filter(e, true)}] + object.?spec.containers.orValue([])",
		"{'containers': object.?spec.template.spec.containers.orValue([]).map(c, c) + object.?spec.template.spec.containers.orValue([])}",
		"object.?spec.parts.orValue([]) + ['x'] + object.?spec.parts.orValue([])"}
)

func (g *generator) patch(kind string) string {
	path := func() string {
		if g.Chance(40) {
			return harness.Pick(g, commonPaths...)
		}
		return harness.Pick(g, paths[kind]...)
	}
	operations := harness.Some(g, 3, func(int) string {
		switch op := harness.Pick(g, "add", "add", "add", "replace", "replace", "remove", "test", "move", "copy", "swap"); op {
		case "remove":
			return fmt.Sprintf("JSONPatch{op: 'remove', path: %q}", path())
		case "move", "copy":
			return fmt.Sprintf("JSONPatch{op: %q, from: %q, path: %q}", op, path(), path())
		default:
			value := harness.Pick(g, patchValues...)
			if !g.conditional && g.Chance(35) {
				value = harness.Pick(g, parts...)
			}
			return fmt.Sprintf("JSONPatch{op: %q, path: %q, value: %s}", op, path(), value)
		}
	})
	return "[" + strings.Join(operations, ", ") + "]"
}

func (g *generator) binding(name string, policy *v1.MutatingAdmissionPolicy) *v1.MutatingAdmissionPolicyBinding {
	b := bindingOf(name, policy.Name)
	if g.Chance(10) {
		b.Spec.MatchResources = harness.Pick(g, inNamespaces("name", "blue"), ofObjects("app", "shop"), matching(v1.Exact, rule("apps", "v1", "deployments")))
	}
	if policy.Spec.ParamKind != nil && g.Chance(85) {
		using(v1.ParamRef{Name: harness.Pick(g, "a", "a", "b"), ParameterNotFoundAction: harness.Pick(g, new(v1.DenyAction), new(v1.AllowAction))})(b)
	}
	return b
}

// requests returns generated requests and a few of the fixed ones.
func (g *generator) requests() map[string]request {
	result := map[string]request{}
	for i := range 4 {
		r := fixed[harness.Pick(g, "create", "create pod", "create widget", "create newer widget")]
		switch r.Kind {
		case harness.Deployment:
			r.Object = received(g.varied(deploy(r.Namespace, r.Name, int32(g.IntN(11)))))
		case harness.Widget, harness.NewerWidget:
			object := r.Object.(*unstructured.Unstructured).DeepCopy()
			for _, field := range []string{"parts", "tags", "slots", "frame", "ratio"} {
				if g.Chance(30) {
					unstructured.RemoveNestedField(object.Object, "spec", field)
				}
			}
			r.Object = object
		default:
			r.Object = received(g.varied(pod(r.Namespace, r.Name)))
		}
		if g.Chance(25) {
			r.Touch = touch
		}
		if g.Chance(15) {
			r.User = harness.Robot
		}
		if g.Chance(25) {
			r.Operation, r.Old, r.Options = admission.Update, r.Object, &metav1.UpdateOptions{}
		}
		result[fmt.Sprint("generated ", i)] = r
	}
	for range 2 {
		name := harness.Pick(g, fixedNames...)
		result[name] = fixed[name]
	}
	return result
}

// varied changes the lists and maps of a pod or deployment that apply configurations merge.
func (g *generator) varied(object runtime.Object) runtime.Object {
	var meta *metav1.ObjectMeta
	var spec *corev1.PodSpec
	switch o := object.(type) {
	case *corev1.Pod:
		meta, spec = &o.ObjectMeta, &o.Spec
	case *appsv1.Deployment:
		meta, spec = &o.ObjectMeta, &o.Spec.Template.Spec
	}
	main := &spec.Containers[0]
	for _, change := range []func(){
		func() { meta.Labels = nil },
		func() { meta.Labels = map[string]string{"new": "no", "app": "moved"} },
		func() { meta.Finalizers = []string{"example.com/b"} },
		func() { main.Env = append(main.Env, corev1.EnvVar{Name: "STAGE", Value: "again"}) },
		func() { main.Env = nil },
		func() { main.Env = []corev1.EnvVar{} },
		func() { main.Ports = append(main.Ports, corev1.ContainerPort{ContainerPort: 53}) },
		func() { main.LivenessProbe = nil },
		func() { main.Resources = corev1.ResourceRequirements{} },
		func() { spec.Volumes = nil },
		func() { spec.Containers = append(spec.Containers, corev1.Container{Name: "new", Image: "i"}) },
		func() { spec.Containers[1].Name = "main" },
		func() { spec.InitContainers = []corev1.Container{{Name: "side", Image: "i:1"}} },
		func() { spec.SecurityContext = &corev1.PodSecurityContext{RunAsNonRoot: new(false)} },
		func() { spec.Priority = new(int32(0)) },
		func() { spec.ImagePullSecrets = []corev1.LocalObjectReference{{Name: "s"}, {Name: "t"}} },
	} {
		if g.Chance(15) {
			change()
		}
	}
	return object
}
