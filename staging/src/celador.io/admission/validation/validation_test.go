// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package validation_test

import (
	"strings"
	"testing"

	v1 "celador.io/api/admissionregistration/v1"
	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"celador.io/admission/policyspec"
	"celador.io/admission/policytest"
	"celador.io/admission/validation"
)

// fields returns the type and field of each error.
func fields(errs field.ErrorList) []string {
	var result []string
	for _, err := range errs {
		result = append(result, string(err.Type)+" "+err.Field)
	}
	return result
}

func validatingPolicy(change func(*v1.ValidatingAdmissionPolicy)) *v1.ValidatingAdmissionPolicy {
	p := policytest.Validating("p.example.com", v1.ValidatingAdmissionPolicySpec{
		MatchConstraints: policytest.Match(v1.Equivalent, policytest.Rule("apps", "v1", "deployments", v1.Create)),
		Validations:      policytest.Validations("object.spec.replicas <= 5"),
	})
	change(p)
	return p
}

func mutatingPolicy(change func(*v1.MutatingAdmissionPolicy)) *v1.MutatingAdmissionPolicy {
	p := policytest.MutatingSpec("p.example.com", v1.MutatingAdmissionPolicySpec{
		MatchConstraints: policytest.Match(v1.Equivalent, policytest.Rule("", "v1", "configmaps", v1.Create)),
		Mutations:        []v1.Mutation{policytest.SetData("a", "'1'")},
	})
	change(p)
	return p
}

// The equivalence suites compare all rules with those of Kubernetes.
func TestValidation(t *testing.T) {
	inline := policyspec.Features{policyspec.InlineExpressions: true}
	about := func(path string) func(*v1.ValidatingAdmissionPolicy) {
		return func(p *v1.ValidatingAdmissionPolicy) { p.Spec.Validations[0].FieldPath = &path }
	}
	unchanged := func(*v1.ValidatingAdmissionPolicy) {}
	brokenExpression := func(p *v1.ValidatingAdmissionPolicy) { p.Spec.Validations[0].Expression = "object.?" }
	brokenMutation := func(p *v1.MutatingAdmissionPolicy) { p.Spec.Mutations[0] = policytest.JSONPatch("'text'") }
	expression := func(p *v1.MutatingAdmissionPolicy) { p.Spec.Mutations[0] = v1.Mutation{Expression: new("null")} }
	binding := policytest.Binding("b", "p.example.com")
	contradicting := policytest.Binding("b", "p.example.com", v1.Deny, v1.Warn)
	mutatingBinding := policytest.MutatingBinding("b", "p.example.com")
	for name, test := range map[string]struct {
		got  field.ErrorList
		want []string
	}{
		"validating policy":                   {validation.ValidateValidatingAdmissionPolicy(validatingPolicy(unchanged)), nil},
		"validating policy, no validations":   {validation.ValidateValidatingAdmissionPolicy(validatingPolicy(func(p *v1.ValidatingAdmissionPolicy) { p.Spec.Validations = nil })), []string{"FieldValueRequired spec.validations", "FieldValueRequired spec.auditAnnotations"}},
		"validating policy, expression":       {validation.ValidateValidatingAdmissionPolicy(validatingPolicy(brokenExpression)), []string{"FieldValueInvalid spec.validations[0].expression"}},
		"validating policy, update":           {validation.ValidateValidatingAdmissionPolicyUpdate(validatingPolicy(unchanged), validatingPolicy(unchanged)), nil},
		"validating policy, update breaks it": {validation.ValidateValidatingAdmissionPolicyUpdate(validatingPolicy(brokenExpression), validatingPolicy(unchanged)), []string{"FieldValueInvalid spec.validations[0].expression"}},
		"validating binding":                  {validation.ValidateValidatingAdmissionPolicyBinding(binding), nil},
		"validating binding, actions":         {validation.ValidateValidatingAdmissionPolicyBinding(contradicting), []string{"FieldValueInvalid spec.validationActions"}},
		"validating binding, update":          {validation.ValidateValidatingAdmissionPolicyBindingUpdate(contradicting, binding), []string{"FieldValueInvalid spec.validationActions"}},
		"mutating policy":                     {validation.ValidateMutatingAdmissionPolicy(mutatingPolicy(func(*v1.MutatingAdmissionPolicy) {}), nil), nil},
		"mutating policy, patch":              {validation.ValidateMutatingAdmissionPolicy(mutatingPolicy(brokenMutation), nil), []string{"FieldValueInvalid spec.mutations[0].jsonPatch.expression"}},
		"mutating policy, inline expression":  {validation.ValidateMutatingAdmissionPolicy(mutatingPolicy(expression), inline), nil},
		"mutating policy, update":             {validation.ValidateMutatingAdmissionPolicyUpdate(mutatingPolicy(brokenMutation), mutatingPolicy(func(*v1.MutatingAdmissionPolicy) {}), nil), []string{"FieldValueInvalid spec.mutations[0].jsonPatch.expression"}},
		"mutating binding":                    {validation.ValidateMutatingAdmissionPolicyBinding(mutatingBinding), nil},
		"mutating binding, no policy":         {validation.ValidateMutatingAdmissionPolicyBinding(policytest.MutatingBinding("b", "")), []string{"FieldValueRequired spec.policyName"}},
		"mutating binding, policy name":       {validation.ValidateMutatingAdmissionPolicyBinding(policytest.MutatingBinding("b", "P/Q")), []string{"FieldValueInvalid spec.policyName"}},
		"status":                              {validation.ValidateValidatingAdmissionPolicyStatus(&v1.ValidatingAdmissionPolicyStatus{}), nil},
		"fieldPath":                           {validation.ValidateValidatingAdmissionPolicy(validatingPolicy(about("metadata.labels['example.com/team']"))), nil},
		"fieldPath, blank":                    {validation.ValidateValidatingAdmissionPolicy(validatingPolicy(about(" "))), []string{"FieldValueInvalid spec.validations[0].fieldPath"}},
		"fieldPath, no path":                  {validation.ValidateValidatingAdmissionPolicy(validatingPolicy(about("spec.containers[0]"))), []string{"FieldValueInvalid spec.validations[0].fieldPath"}},
		"fieldPath, 1024 bytes":               {validation.ValidateValidatingAdmissionPolicy(validatingPolicy(about(strings.Repeat("a", 1024)))), nil},
		"fieldPath, 1025 bytes":               {validation.ValidateValidatingAdmissionPolicy(validatingPolicy(about(strings.Repeat("a", 1025)))), []string{"FieldValueTooLong spec.validations[0].fieldPath"}},
		"fieldPath, update":                   {validation.ValidateValidatingAdmissionPolicyUpdate(validatingPolicy(about("a[")), validatingPolicy(unchanged)), []string{"FieldValueInvalid spec.validations[0].fieldPath"}},
		"fieldPath, stored":                   {validation.ValidateValidatingAdmissionPolicyUpdate(validatingPolicy(about("a[")), validatingPolicy(about("a["))), nil},
		"status, warning": {
			validation.ValidateValidatingAdmissionPolicyStatus(&v1.ValidatingAdmissionPolicyStatus{TypeChecking: &v1.TypeChecking{ExpressionWarnings: []v1.ExpressionWarning{{FieldRef: "spec.validations[0].expression"}}}}),
			[]string{"FieldValueRequired status.typeChecking.expressionWarnings[0].warning"},
		},
		"status of a mutating policy": {
			validation.ValidateMutatingAdmissionPolicyStatus(&v1.MutatingAdmissionPolicyStatus{TypeChecking: &v1.TypeChecking{ExpressionWarnings: []v1.ExpressionWarning{{Warning: "no"}}}}),
			[]string{"FieldValueRequired status.typeChecking.expressionWarnings[0].fieldRef"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, fields(test.got)); diff != "" {
				t.Errorf("errors differ (-want +got):\n%s\n%v", diff, test.got)
			}
		})
	}
}
