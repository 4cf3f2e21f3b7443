// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package equivalence

import (
	"fmt"

	v1 "celador.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apiserver/pkg/admission"
)

// dice decide about everything that is made up. IntN returns a number below n.
type dice interface{ IntN(n int) int }

// generator makes up scenarios and requests. Its values are few, so that policies often
// match, params are often found, and expressions are satisfied about as often as not.
type generator struct {
	dice
	// scope is what expressions may read.
	scope scope
}

// chance is true in so many of a hundred cases.
func (g *generator) chance(percent int) bool { return g.IntN(100) >= 100-percent }

// pick returns one of the choices. The first is the simplest: dice that have nothing more
// to say take it.
func pick[T any](g *generator, choices ...T) T { return choices[g.IntN(len(choices))] }

// some returns from zero to most made-up things.
func some[T any](g *generator, most int, make func(i int) T) []T {
	var result []T
	for i := range g.IntN(most + 1) {
		result = append(result, make(i))
	}
	return result
}

func (g *generator) scenario() scenario {
	s := scenario{Params: g.params()}
	for p := range pick(g, 1, 1, 1, 1, 2, 3) {
		policy := policyOf(fmt.Sprintf("p%d.example.com", p), g.policy())
		s.Policies = append(s.Policies, policy)
		for b := range pick(g, 1, 1, 1, 2, 3) {
			s.Bindings = append(s.Bindings, g.binding(fmt.Sprintf("b%d.p%d.example.com", b, p), policy))
		}
	}
	return s
}

func (g *generator) policy() v1.ValidatingAdmissionPolicySpec {
	spec := v1.ValidatingAdmissionPolicySpec{
		FailurePolicy:    pick(g, nil, new(v1.Fail), new(v1.Ignore)),
		MatchConstraints: g.constraints(everything()),
	}
	if g.chance(35) {
		spec.ParamKind = pick(g, configMapKind, limitKind, limitKind, clusterLimitKind, clusterLimitKind, namespaceKind, unknownKind)
	}
	g.scope = scope{params: spec.ParamKind}
	if g.chance(3) {
		g.expensive(&spec)
	}
	spec.Variables = append(spec.Variables, some(g, pick(g, 0, 2, 3), func(i int) v1.Variable {
		name := fmt.Sprint("v", i)
		return v1.Variable{Name: name, Expression: g.declare(name)}
	})...)
	if g.chance(35) {
		spec.MatchConditions = append(spec.MatchConditions, some(g, 3, func(i int) v1.MatchCondition {
			return v1.MatchCondition{Name: fmt.Sprint("c", i), Expression: pick(g, "true", g.expression('b', g.IntN(2)), g.expression('b', 0))}
		})...)
	}
	spec.Validations = append(spec.Validations, some(g, 4, func(int) v1.Validation { return g.validation() })...)
	spec.AuditAnnotations = append(spec.AuditAnnotations, some(g, pick(g, 0, 0, 2), func(i int) v1.AuditAnnotation {
		return v1.AuditAnnotation{Key: fmt.Sprint("key", i), ValueExpression: pick(g, "string("+g.expression('t', g.IntN(3))+")", g.expression('t', 1), "null")}
	})...)
	if spec.ParamKind != nil && g.chance(50) {
		spec.AuditAnnotations = append(spec.AuditAnnotations, v1.AuditAnnotation{Key: "params", ValueExpression: "params == null ? 'none' : string(params.metadata.name)"})
	}
	return spec
}

// expensive adds expressions that come close to what they may cost, or exceed it.
func (g *generator) expensive(spec *v1.ValidatingAdmissionPolicySpec) {
	units := pick(g, 900_000, 990_000, 1_100_000)
	spec.Variables = append(spec.Variables, costing(units))
	spec.Validations = times(pick(g, 1, 9, 11, 12))
	if g.chance(30) {
		spec.MatchConditions = when(search, search)
	}
	if g.chance(30) {
		for range pick(g, 1, 11, 12) {
			spec.AuditAnnotations = append(spec.AuditAnnotations, note("string("+search+")")...)
		}
	}
	if units < 1_000_000 && g.chance(30) {
		// Upstream evaluates messages of validations that do not need them, too, which is
		// a wanted difference, so this one is not satisfied.
		spec.Validations[0] = v1.Validation{Expression: "!" + search, MessageExpression: "string(" + search + ")"}
	}
}

func (g *generator) validation() v1.Validation {
	v := v1.Validation{
		Expression: g.expression('b', g.IntN(4)),
		Message:    pick(g, "", "", "fixed", " fixed <too> "),
		Reason:     pick(g, nil, nil, new(metav1.StatusReasonForbidden), new(metav1.StatusReasonUnauthorized), new(metav1.StatusReasonRequestEntityTooLarge), new(metav1.StatusReasonInvalid)),
	}
	if g.chance(40) {
		v.MessageExpression = g.expression('t', g.IntN(3))
	}
	return v
}

// constraints returns the usual ones or narrower ones.
func (g *generator) constraints(usual *v1.MatchResources) *v1.MatchResources {
	if !g.chance(40) {
		return usual
	}
	m := matching(pick(g, v1.Equivalent, v1.Exact), usual.ResourceRules...)
	if g.chance(60) {
		m.ResourceRules = append(some(g, 2, func(int) v1.NamedRuleWithOperations { return g.rule() }), g.rule())
	}
	if g.chance(25) {
		m.ExcludeResourceRules = some(g, 2, func(int) v1.NamedRuleWithOperations { return g.rule() })
	}
	if g.chance(30) {
		m.NamespaceSelector = g.selector("name", "blue", "red")
	}
	if g.chance(30) {
		m.ObjectSelector = g.selector("app", "shop", "parts")
	}
	return m
}

func (g *generator) rule() v1.NamedRuleWithOperations {
	r := pick(g, rule("apps", "v1", "deployments"), rule("*", "*", "*"), rule("apps", "*", "deployments/*"), rule("extensions", "v1beta1", "deployments"),
		rule("example.com", "v2", "widgets"), rule("", "v1", "pods/*"), rule("*", "*", "*/scale"), rule("", "*", "*"), rule("apps", "v1beta1", "deployments"), rule("apps", "v9", "deployments"))
	r.Operations = pick(g, r.Operations, r.Operations, []v1.OperationType{v1.Create}, []v1.OperationType{v1.Update, v1.Create}, []v1.OperationType{v1.Delete}, []v1.OperationType{v1.Connect})
	r.Scope = pick(g, r.Scope, r.Scope, new(v1.NamespacedScope), new(v1.ClusterScope))
	r.ResourceNames = pick(g, nil, nil, nil, []string{"web", "w"}, []string{"api"})
	return r
}

func (g *generator) selector(key string, values ...string) *metav1.LabelSelector {
	requirement := func(operator metav1.LabelSelectorOperator, values ...string) *metav1.LabelSelector {
		return &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: key, Operator: operator, Values: values}}}
	}
	return pick(g, labelled(key, values[0]), labelled(key, pick(g, values...)), &metav1.LabelSelector{},
		requirement(metav1.LabelSelectorOpIn, values...), requirement(metav1.LabelSelectorOpNotIn, values[0]),
		requirement(metav1.LabelSelectorOpExists), requirement(metav1.LabelSelectorOpDoesNotExist), requirement("Resembles"))
}

func (g *generator) binding(name string, policy *v1.ValidatingAdmissionPolicy) *v1.ValidatingAdmissionPolicyBinding {
	b := bindingOf(name, policy.Name, pick(g, []v1.ValidationAction{v1.Deny}, []v1.ValidationAction{v1.Deny}, []v1.ValidationAction{v1.Warn},
		[]v1.ValidationAction{v1.Audit}, []v1.ValidationAction{v1.Audit, v1.Warn}, []v1.ValidationAction{v1.Deny, v1.Audit})...)
	if g.chance(30) {
		b.Spec.MatchResources = g.constraints(matching(v1.Equivalent))
	}
	if policy.Spec.ParamKind != nil && g.chance(85) || g.chance(5) {
		b.Spec.ParamRef = g.paramRef()
	}
	return b
}

func (g *generator) paramRef() *v1.ParamRef {
	ref := &v1.ParamRef{
		ParameterNotFoundAction: pick(g, new(v1.DenyAction), new(v1.AllowAction)),
		Namespace:               pick(g, "", "", "", "", "blue", "red"),
	}
	if g.chance(50) {
		ref.Selector = pick(g, labelled("set", "a"), labelled("set", "b"), &metav1.LabelSelector{}, g.selector("set", "a", "b"))
		return ref
	}
	ref.Name = pick(g, "a", "a", "b", "c", "blue")
	return ref
}

func (g *generator) params() []*unstructured.Unstructured {
	var result []*unstructured.Unstructured
	for _, namespace := range []string{"blue", "red", ""} {
		for _, name := range []string{"a", "b", "c"} {
			object := limit(namespace, name, int64(g.IntN(11)))
			object.SetLabels(map[string]string{"set": pick(g, "a", "b", "c")})
			spec := object.Object["spec"].(map[string]any)
			spec["ratio"], spec["nothing"] = pick(g, 0.5, 3.0, -1e300), nil
			if g.chance(45) {
				result = append(result, object)
			}
			if namespace != "" && g.chance(35) {
				object := configMap(namespace, name, pick(g, "5", "0", "9", "many"))
				object.SetLabels(map[string]string{"set": pick(g, "a", "b")})
				result = append(result, object)
			}
		}
	}
	return result
}

// requests returns made-up ones and, of the fixed ones, a few.
func (g *generator) requests() map[string]request {
	result := map[string]request{}
	for i := range 4 {
		r := creation(pick(g, "blue", "red", "bare"), pick(g, "web", "api"), int32(g.IntN(11)))
		if g.chance(30) {
			r.namespace, r.resource, r.kind = "blue", widgets, widget
			r.object = widgetOf("v1", r.name, int64(g.IntN(11)))
			if g.chance(50) {
				r.resource, r.kind, r.object = newerWidgets, newerWidget, widgetOf("v2", r.name, int64(g.IntN(11)))
			}
		}
		if g.chance(30) {
			r.user = robot
		}
		r.dryRun = g.chance(10)
		switch pick(g, admission.Create, admission.Create, admission.Update, admission.Delete) {
		case admission.Update:
			r.operation, r.options = admission.Update, &metav1.UpdateOptions{}
			if r.old = r.object; r.kind == deployment {
				r.old = deploy(r.namespace, r.name, int32(g.IntN(11)))
			}
		case admission.Delete:
			r.operation, r.object, r.old, r.options = admission.Delete, nil, r.object, &metav1.DeleteOptions{}
		}
		result[fmt.Sprint("made up ", i)] = r
	}
	for range 2 {
		name := pick(g, fixedNames...)
		result[name] = fixed[name]
	}
	return result
}
