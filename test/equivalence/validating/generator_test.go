// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package validating

import (
	"fmt"

	v1 "celador.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apiserver/pkg/admission"

	"celador.io/celador/test/equivalence/harness"
)

// generator generates scenarios and requests. It chooses from few values, so that
// policies often match, params are often found, and expressions are often true.
type generator struct {
	harness.Generator
	// scope holds the names that expressions may read.
	scope scope
}

func (g *generator) scenario() scenario {
	s := scenario{Params: g.params()}
	for p := range harness.Pick(g, 1, 1, 1, 1, 2, 3) {
		policy := policyOf(fmt.Sprintf("p%d.example.com", p), g.policy())
		s.Policies = append(s.Policies, policy)
		for b := range harness.Pick(g, 1, 1, 1, 2, 3) {
			s.Bindings = append(s.Bindings, g.binding(fmt.Sprintf("b%d.p%d.example.com", b, p), policy))
		}
	}
	return s
}

func (g *generator) policy() v1.ValidatingAdmissionPolicySpec {
	spec := v1.ValidatingAdmissionPolicySpec{
		FailurePolicy:    harness.Pick(g, nil, new(v1.Fail), new(v1.Ignore)),
		MatchConstraints: g.constraints(everything()),
	}
	if g.Chance(35) {
		spec.ParamKind = harness.Pick(g, configMapKind, limitKind, limitKind, clusterLimitKind, clusterLimitKind, namespaceKind, unknownKind)
	}
	g.scope = scope{params: spec.ParamKind}
	if g.Chance(3) {
		g.expensive(&spec)
	}
	spec.Variables = append(spec.Variables, harness.Some(g, harness.Pick(g, 0, 2, 3), func(i int) v1.Variable {
		name := fmt.Sprint("v", i)
		return v1.Variable{Name: name, Expression: g.declare(name)}
	})...)
	if g.Chance(35) {
		spec.MatchConditions = append(spec.MatchConditions, harness.Some(g, 3, func(i int) v1.MatchCondition {
			return v1.MatchCondition{Name: fmt.Sprint("c", i), Expression: harness.Pick(g, "true", g.expression('b', g.IntN(2)), g.expression('b', 0))}
		})...)
	}
	spec.Validations = append(spec.Validations, harness.Some(g, 4, func(int) v1.Validation { return g.validation() })...)
	spec.AuditAnnotations = append(spec.AuditAnnotations, harness.Some(g, harness.Pick(g, 0, 0, 2), func(i int) v1.AuditAnnotation {
		return v1.AuditAnnotation{Key: fmt.Sprint("key", i), ValueExpression: harness.Pick(g, "string("+g.expression('t', g.IntN(3))+")", g.expression('t', 1), "null")}
	})...)
	if spec.ParamKind != nil && g.Chance(50) {
		spec.AuditAnnotations = append(spec.AuditAnnotations, v1.AuditAnnotation{Key: "params", ValueExpression: "params == null ? 'none' : string(params.metadata.name)"})
	}
	return spec
}

// expensive adds expressions whose cost is close to a limit or exceeds it.
func (g *generator) expensive(spec *v1.ValidatingAdmissionPolicySpec) {
	units := harness.Pick(g, 900_000, 990_000, 1_100_000)
	spec.Variables = append(spec.Variables, costing(units))
	spec.Validations = times(harness.Pick(g, 1, 9, 11, 12))
	if g.Chance(30) {
		spec.MatchConditions = when(search, search)
	}
	if g.Chance(30) {
		for range harness.Pick(g, 1, 11, 12) {
			spec.AuditAnnotations = append(spec.AuditAnnotations, note("string("+search+")")...)
		}
	}
	if units < 1_000_000 && g.Chance(30) {
		// Kubernetes' plugin also evaluates messages of satisfied validations, which is a wanted
		// difference, so this validation fails.
		spec.Validations[0] = v1.Validation{Expression: "!" + search, MessageExpression: "string(" + search + ")"}
	}
}

func (g *generator) validation() v1.Validation {
	v := v1.Validation{
		Expression: g.expression('b', g.IntN(4)),
		Message:    harness.Pick(g, "", "", "fixed", " fixed <too> ", "compilation failed", "validation failed due to running out of cost budget"),
		Reason:     harness.Pick(g, nil, nil, new(metav1.StatusReasonForbidden), new(metav1.StatusReasonUnauthorized), new(metav1.StatusReasonRequestEntityTooLarge), new(metav1.StatusReasonInvalid)),
	}
	if g.Chance(40) {
		v.MessageExpression = g.expression('t', g.IntN(3))
	}
	return v
}

// constraints returns the usual match resources or narrower ones.
func (g *generator) constraints(usual *v1.MatchResources) *v1.MatchResources {
	if !g.Chance(40) {
		return usual
	}
	m := matching(harness.Pick(g, v1.Equivalent, v1.Exact), usual.ResourceRules...)
	if g.Chance(60) {
		m.ResourceRules = append(harness.Some(g, 2, func(int) v1.NamedRuleWithOperations { return g.rule() }), g.rule())
	}
	if g.Chance(25) {
		m.ExcludeResourceRules = harness.Some(g, 2, func(int) v1.NamedRuleWithOperations { return g.rule() })
	}
	if g.Chance(30) {
		m.NamespaceSelector = g.Selector("name", "blue", "red")
	}
	if g.Chance(30) {
		m.ObjectSelector = g.Selector("app", "shop", "parts")
	}
	return m
}

func (g *generator) rule() v1.NamedRuleWithOperations {
	r := harness.Pick(g, rule("apps", "v1", "deployments"), rule("*", "*", "*"), rule("apps", "*", "deployments/*"), rule("extensions", "v1beta1", "deployments"),
		rule("example.com", "v2", "widgets"), rule("", "v1", "pods/*"), rule("*", "*", "*/scale"), rule("", "*", "*"), rule("apps", "v1beta1", "deployments"), rule("apps", "v9", "deployments"))
	r.Operations = harness.Pick(g, r.Operations, r.Operations, []v1.OperationType{v1.Create}, []v1.OperationType{v1.Update, v1.Create}, []v1.OperationType{v1.Delete}, []v1.OperationType{v1.Connect})
	r.Scope = harness.Pick(g, r.Scope, r.Scope, new(v1.NamespacedScope), new(v1.ClusterScope))
	r.ResourceNames = harness.Pick(g, nil, nil, nil, []string{"web", "w"}, []string{"api"})
	return r
}

func (g *generator) binding(name string, policy *v1.ValidatingAdmissionPolicy) *v1.ValidatingAdmissionPolicyBinding {
	b := bindingOf(name, policy.Name, harness.Pick(g, []v1.ValidationAction{v1.Deny}, []v1.ValidationAction{v1.Deny}, []v1.ValidationAction{v1.Warn},
		[]v1.ValidationAction{v1.Audit}, []v1.ValidationAction{v1.Audit, v1.Warn}, []v1.ValidationAction{v1.Deny, v1.Audit})...)
	if g.Chance(30) {
		b.Spec.MatchResources = g.constraints(matching(v1.Equivalent))
	}
	if policy.Spec.ParamKind != nil && g.Chance(85) || g.Chance(5) {
		b.Spec.ParamRef = g.paramRef()
	}
	return b
}

func (g *generator) paramRef() *v1.ParamRef {
	ref := &v1.ParamRef{
		ParameterNotFoundAction: harness.Pick(g, new(v1.DenyAction), new(v1.AllowAction)),
		Namespace:               harness.Pick(g, "", "", "", "", "blue", "red"),
	}
	if g.Chance(50) {
		ref.Selector = harness.Pick(g, labelled("set", "a"), labelled("set", "b"), &metav1.LabelSelector{}, g.Selector("set", "a", "b"))
		return ref
	}
	ref.Name = harness.Pick(g, "a", "a", "b", "c", "blue")
	return ref
}

func (g *generator) params() []*unstructured.Unstructured {
	var result []*unstructured.Unstructured
	for _, namespace := range []string{"blue", "red", ""} {
		for _, name := range []string{"a", "b", "c"} {
			object := limit(namespace, name, int64(g.IntN(11)))
			object.SetLabels(map[string]string{"set": harness.Pick(g, "a", "b", "c")})
			spec := object.Object["spec"].(map[string]any)
			spec["ratio"], spec["nothing"] = harness.Pick(g, 0.5, 3.0, -1e300), nil
			if g.Chance(45) {
				result = append(result, object)
			}
			if namespace != "" && g.Chance(35) {
				object := configMap(namespace, name, harness.Pick(g, "5", "0", "9", "many"))
				object.SetLabels(map[string]string{"set": harness.Pick(g, "a", "b")})
				result = append(result, object)
			}
		}
	}
	return result
}

// requests returns generated requests and a few of the fixed ones.
func (g *generator) requests() map[string]request {
	result := map[string]request{}
	for i := range 4 {
		r := objects.Creation(harness.Pick(g, "blue", "red", "bare"), harness.Pick(g, "web", "api"), int32(g.IntN(11)))
		if g.Chance(30) {
			r.Namespace, r.Resource, r.Kind = "blue", harness.Widgets, harness.Widget
			r.Object = widget("v1", r.Name, int64(g.IntN(11)))
			if g.Chance(50) {
				r.Resource, r.Kind, r.Object = harness.NewerWidgets, harness.NewerWidget, widget("v2", r.Name, int64(g.IntN(11)))
			}
		}
		if g.Chance(30) {
			r.User = harness.Robot
		}
		r.DryRun = g.Chance(10)
		switch harness.Pick(g, admission.Create, admission.Create, admission.Update, admission.Delete) {
		case admission.Update:
			r.Operation, r.Options = admission.Update, &metav1.UpdateOptions{}
			if r.Old = r.Object; r.Kind == harness.Deployment {
				r.Old = deploy(r.Namespace, r.Name, int32(g.IntN(11)))
			}
		case admission.Delete:
			r.Operation, r.Object, r.Old, r.Options = admission.Delete, nil, r.Object, &metav1.DeleteOptions{}
		}
		result[fmt.Sprint("generated ", i)] = r
	}
	for range 2 {
		name := harness.Pick(g, fixedNames...)
		result[name] = fixed[name]
	}
	return result
}
