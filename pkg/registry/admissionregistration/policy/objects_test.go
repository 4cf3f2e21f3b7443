// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package policy_test

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "celador.io/api/admissionregistration/v1"
	"celador.io/celador/pkg/apis/admissionregistration"
	"celador.io/celador/pkg/registry/admissionregistration/policy"
)

// change changes a valid object.
type change func(policy.APIObject)

// validating returns a valid policy as a request contains it, with the changes.
func validating(changes ...change) *admissionregistration.ValidatingAdmissionPolicy {
	p := &admissionregistration.ValidatingAdmissionPolicy{
		ObjectMeta: metadata,
		Spec: v1.ValidatingAdmissionPolicySpec{
			FailurePolicy:    new(v1.Fail),
			MatchConstraints: deployments(),
			Validations:      []v1.Validation{{Expression: "object.spec.replicas <= 5"}},
		},
		Status: observed(1),
	}
	for _, change := range changes {
		change(p)
	}
	return p
}

// mutating returns a valid policy as a request contains it, with the changes.
func mutating(changes ...change) *admissionregistration.MutatingAdmissionPolicy {
	p := &admissionregistration.MutatingAdmissionPolicy{
		ObjectMeta: metadata,
		Spec: v1.MutatingAdmissionPolicySpec{
			FailurePolicy:      new(v1.Fail),
			MatchConstraints:   deployments(),
			Mutations:          []v1.Mutation{patch(`[JSONPatch{op: "add", path: "/spec/replicas", value: 5}]`)},
			ReinvocationPolicy: v1.NeverReinvocationPolicy,
		},
		Status: v1.MutatingAdmissionPolicyStatus(observed(1)),
	}
	for _, change := range changes {
		change(p)
	}
	return p
}

// validatingBinding returns a valid binding as a request contains it, with the changes.
func validatingBinding(changes ...change) *admissionregistration.ValidatingAdmissionPolicyBinding {
	b := &admissionregistration.ValidatingAdmissionPolicyBinding{
		ObjectMeta: metadata,
		Spec:       v1.ValidatingAdmissionPolicyBindingSpec{PolicyName: "by-configmap", ValidationActions: []v1.ValidationAction{v1.Deny}},
	}
	for _, change := range changes {
		change(b)
	}
	return b
}

// mutatingBinding returns a valid binding as a request contains it, with the changes.
func mutatingBinding(changes ...change) *admissionregistration.MutatingAdmissionPolicyBinding {
	b := &admissionregistration.MutatingAdmissionPolicyBinding{
		ObjectMeta: metadata,
		Spec:       v1.MutatingAdmissionPolicyBindingSpec{PolicyName: "by-configmap"},
	}
	for _, change := range changes {
		change(b)
	}
	return b
}

func deployments() *v1.MatchResources {
	return &v1.MatchResources{
		MatchPolicy:       new(v1.Equivalent),
		NamespaceSelector: &metav1.LabelSelector{},
		ObjectSelector:    &metav1.LabelSelector{},
		ResourceRules: []v1.NamedRuleWithOperations{{RuleWithOperations: v1.RuleWithOperations{
			Operations: []v1.OperationType{v1.Create},
			Rule:       v1.Rule{APIGroups: []string{"apps"}, APIVersions: []string{"v1"}, Resources: []string{"deployments"}, Scope: new(v1.AllScopes)},
		}}},
	}
}

func observed(generation int64) v1.ValidatingAdmissionPolicyStatus {
	return v1.ValidatingAdmissionPolicyStatus{
		ObservedGeneration:      generation,
		ObservedCustomResources: []v1.ObservedCustomResource{{Group: "rules.example.com", Version: "v1", Kind: "Limit", Generation: generation}},
	}
}

func patch(source string) v1.Mutation {
	return v1.Mutation{PatchType: v1.PatchTypeJSONPatch, JSONPatch: &v1.JSONPatch{Expression: source}}
}

// Changes of any kind.

func label(obj policy.APIObject) { obj.SetLabels(map[string]string{"team": "blue"}) }

func named(name string) change {
	return func(obj policy.APIObject) { obj.SetName(name) }
}

// policyFields points to fields that both kinds of policies have.
type policyFields struct {
	paramKind        **v1.ParamKind
	matchConstraints *v1.MatchResources
	matchConditions  *[]v1.MatchCondition
	variables        *[]v1.Variable
	failurePolicy    **v1.FailurePolicyType
	typeChecking     **v1.TypeCheckingMode
	lookups          *[]v1.Lookup
}

func fieldsOf(obj policy.APIObject) policyFields {
	if p, ok := obj.(*admissionregistration.ValidatingAdmissionPolicy); ok {
		return policyFields{&p.Spec.ParamKind, p.Spec.MatchConstraints, &p.Spec.MatchConditions, &p.Spec.Variables, &p.Spec.FailurePolicy, &p.Spec.TypeChecking, &p.Spec.Lookups}
	}
	p := obj.(*admissionregistration.MutatingAdmissionPolicy)
	return policyFields{&p.Spec.ParamKind, p.Spec.MatchConstraints, &p.Spec.MatchConditions, &p.Spec.Variables, &p.Spec.FailurePolicy, &p.Spec.TypeChecking, &p.Spec.Lookups}
}

// Changes of both kinds of policies.

func params(kind string) change {
	return func(obj policy.APIObject) { *fieldsOf(obj).paramKind = &v1.ParamKind{APIVersion: "v1", Kind: kind} }
}

func typeChecking(mode v1.TypeCheckingMode) change {
	return func(obj policy.APIObject) { *fieldsOf(obj).typeChecking = new(mode) }
}

// lookup adds a lookup of all objects of a kind.
func lookup(name, kind string) change {
	return func(obj policy.APIObject) {
		lookups := fieldsOf(obj).lookups
		*lookups = append(*lookups, v1.Lookup{Name: name, APIVersion: "v1", Kind: kind})
	}
}

func resources(names ...string) change {
	return func(obj policy.APIObject) { fieldsOf(obj).matchConstraints.ResourceRules[0].Resources = names }
}

func matchCondition(name, source string) change {
	return func(obj policy.APIObject) {
		*fieldsOf(obj).matchConditions = []v1.MatchCondition{{Name: name, Expression: source}}
	}
}

func variable(name, source string) change {
	return func(obj policy.APIObject) {
		*fieldsOf(obj).variables = []v1.Variable{{Name: name, Expression: source}}
	}
}

func noVariables(obj policy.APIObject) { *fieldsOf(obj).variables = []v1.Variable{} }

func ignoreFailures(obj policy.APIObject) { *fieldsOf(obj).failurePolicy = new(v1.Ignore) }

// expression replaces the expression of the first validation, or all mutations by a JSON patch.
func expression(source string) change {
	return func(obj policy.APIObject) {
		switch p := obj.(type) {
		case *admissionregistration.ValidatingAdmissionPolicy:
			p.Spec.Validations[0].Expression = source
		case *admissionregistration.MutatingAdmissionPolicy:
			p.Spec.Mutations = []v1.Mutation{patch(source)}
		}
	}
}

func singleton(obj policy.APIObject) {
	switch p := obj.(type) {
	case *admissionregistration.ValidatingAdmissionPolicy:
		p.Spec.PolicyType = new(v1.SingletonPolicy)
	case *admissionregistration.MutatingAdmissionPolicy:
		p.Spec.PolicyType = new(v1.SingletonPolicy)
	}
}

// Changes of one kind of policies.

func mutations(all ...v1.Mutation) change {
	return func(obj policy.APIObject) { obj.(*admissionregistration.MutatingAdmissionPolicy).Spec.Mutations = all }
}

// bindingFields points to fields that both kinds of bindings have.
type bindingFields struct {
	policyName     *string
	paramRef       **v1.ParamRef
	matchResources **v1.MatchResources
	bindingType    **v1.BindingType
}

func bindingFieldsOf(obj policy.APIObject) bindingFields {
	if b, ok := obj.(*admissionregistration.ValidatingAdmissionPolicyBinding); ok {
		return bindingFields{&b.Spec.PolicyName, &b.Spec.ParamRef, &b.Spec.MatchResources, &b.Spec.BindingType}
	}
	b := obj.(*admissionregistration.MutatingAdmissionPolicyBinding)
	return bindingFields{&b.Spec.PolicyName, &b.Spec.ParamRef, &b.Spec.MatchResources, &b.Spec.BindingType}
}

// Changes of both kinds of bindings.

func policyName(name string) change {
	return func(obj policy.APIObject) { *bindingFieldsOf(obj).policyName = name }
}

func paramName(name string) change {
	return func(obj policy.APIObject) {
		*bindingFieldsOf(obj).paramRef = &v1.ParamRef{Name: name, ParameterNotFoundAction: new(v1.DenyAction)}
	}
}

func paramsIn(namespace string) change {
	return func(obj policy.APIObject) {
		*bindingFieldsOf(obj).paramRef = &v1.ParamRef{Namespace: namespace, Selector: &metav1.LabelSelector{}, ParameterNotFoundAction: new(v1.DenyAction)}
	}
}

func matchPolicy(mode v1.MatchPolicyType) change {
	return func(obj policy.APIObject) {
		*bindingFieldsOf(obj).matchResources = &v1.MatchResources{
			MatchPolicy: &mode, ObjectSelector: &metav1.LabelSelector{},
			NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"team": "blue"}},
		}
	}
}

func fallback(obj policy.APIObject) { *bindingFieldsOf(obj).bindingType = new(v1.FallbackBinding) }

// Changes of validating bindings.

func actions(actions ...v1.ValidationAction) change {
	return func(obj policy.APIObject) {
		obj.(*admissionregistration.ValidatingAdmissionPolicyBinding).Spec.ValidationActions = actions
	}
}
