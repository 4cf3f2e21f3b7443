// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package typecheck

import (
	v1 "celador.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

func mutating(policy *v1.MutatingAdmissionPolicy) subject {
	spec, path := &policy.Spec, field.NewPath("spec")
	// Patches are made of what objects have, of any type.
	s := subject{constraints: spec.MatchConstraints, paramKind: spec.ParamKind, mixes: true}
	s.addConditions(path.Child("matchConditions"), spec.MatchConditions)
	s.addVariables(path.Child("variables"), spec.Variables)
	for i := range spec.Mutations {
		s.addMutation(path.Child("mutations").Index(i), &spec.Mutations[i])
	}
	return s
}

// addMutation adds the expressions that a mutation has. A valid one changes the object in
// one way only.
func (s *subject) addMutation(path *field.Path, m *v1.Mutation) {
	var onlyIf []int
	if m.Condition != nil {
		onlyIf = []int{s.add(path.Child("condition"), fieldExpression{source: *m.Condition, declarations: withAuthorizer})}
	}
	change := func(path *field.Path, source string) {
		s.add(path, fieldExpression{source: source, onlyIf: onlyIf, declarations: declarations{authorizer: true, patches: true}})
	}
	if m.Expression != nil {
		change(path.Child("expression"), *m.Expression)
	}
	if m.ApplyConfiguration != nil {
		change(path.Child("applyConfiguration", "expression"), m.ApplyConfiguration.Expression)
	}
	if m.JSONPatch != nil {
		change(path.Child("jsonPatch", "expression"), m.JSONPatch.Expression)
	}
	if m.JSONMergePatch != nil {
		change(path.Child("jsonMergePatch", "expression"), m.JSONMergePatch.Expression)
	}
	if m.StrategicMergePatch != nil {
		change(path.Child("strategicMergePatch", "expression"), m.StrategicMergePatch.Expression)
	}
}
