// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package typecheck_test

import (
	v1 "celador.io/api/admissionregistration/v1"
)

// policy returns a policy for Deployments with one validation.
func policy(validation string, change ...func(*v1.ValidatingAdmissionPolicySpec)) *v1.ValidatingAdmissionPolicy {
	p := &v1.ValidatingAdmissionPolicy{Spec: v1.ValidatingAdmissionPolicySpec{
		MatchConstraints: &v1.MatchResources{},
		Validations:      []v1.Validation{{Expression: validation}},
	}}
	for _, c := range change {
		c(&p.Spec)
	}
	if len(p.Spec.MatchConstraints.ResourceRules) == 0 {
		rule("apps", "v1", "deployments")(&p.Spec)
	}
	return p
}

// rule adds a rule for one group and version.
func rule(group, version string, resources ...string) func(*v1.ValidatingAdmissionPolicySpec) {
	return rules(v1.Rule{APIGroups: []string{group}, APIVersions: []string{version}, Resources: resources})
}

func rules(added ...v1.Rule) func(*v1.ValidatingAdmissionPolicySpec) {
	return func(s *v1.ValidatingAdmissionPolicySpec) {
		for _, r := range added {
			s.MatchConstraints.ResourceRules = append(s.MatchConstraints.ResourceRules, v1.NamedRuleWithOperations{
				RuleWithOperations: v1.RuleWithOperations{Operations: []v1.OperationType{v1.Create, v1.Update}, Rule: r},
			})
		}
	}
}

// operations sets the operations of the rules before it.
func operations(o ...v1.OperationType) func(*v1.ValidatingAdmissionPolicySpec) {
	return func(s *v1.ValidatingAdmissionPolicySpec) {
		for i := range s.MatchConstraints.ResourceRules {
			s.MatchConstraints.ResourceRules[i].Operations = o
		}
	}
}

func params(apiVersion, kind string) func(*v1.ValidatingAdmissionPolicySpec) {
	return func(s *v1.ValidatingAdmissionPolicySpec) {
		s.ParamKind = &v1.ParamKind{APIVersion: apiVersion, Kind: kind}
	}
}

// variables adds variables from alternating names and expressions.
func variables(namesAndExpressions ...string) func(*v1.ValidatingAdmissionPolicySpec) {
	return func(s *v1.ValidatingAdmissionPolicySpec) {
		for i := 0; i < len(namesAndExpressions); i += 2 {
			s.Variables = append(s.Variables, v1.Variable{Name: namesAndExpressions[i], Expression: namesAndExpressions[i+1]})
		}
	}
}

func message(expression string) func(*v1.ValidatingAdmissionPolicySpec) {
	return func(s *v1.ValidatingAdmissionPolicySpec) { s.Validations[0].MessageExpression = expression }
}

func validation(expression string) func(*v1.ValidatingAdmissionPolicySpec) {
	return func(s *v1.ValidatingAdmissionPolicySpec) {
		s.Validations = append(s.Validations, v1.Validation{Expression: expression})
	}
}

func condition(expression string) func(*v1.ValidatingAdmissionPolicySpec) {
	return func(s *v1.ValidatingAdmissionPolicySpec) {
		s.MatchConditions = append(s.MatchConditions, v1.MatchCondition{Name: "c", Expression: expression})
	}
}

func annotation(expression string) func(*v1.ValidatingAdmissionPolicySpec) {
	return func(s *v1.ValidatingAdmissionPolicySpec) {
		s.AuditAnnotations = append(s.AuditAnnotations, v1.AuditAnnotation{Key: "a", ValueExpression: expression})
	}
}
