// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package policyspec

import (
	v1 "celador.io/api/admissionregistration/v1"

	"celador.io/admission/defaults"
)

// Mutating returns the anatomy of a mutating policy. It has no expression of role Patch for a
// mutation in which neither 'expression' is set nor the field that belongs to its patchType.
func Mutating(spec *v1.MutatingAdmissionPolicySpec) *Anatomy {
	defaulted := *spec
	defaults.SetDefaults_MutatingAdmissionPolicySpec(&defaulted)
	p := &Anatomy{
		FailurePolicy:    *defaulted.FailurePolicy,
		ParamKind:        spec.ParamKind,
		MatchConstraints: spec.MatchConstraints,
		TypeChecking:     spec.TypeChecking,
		Lookups:          spec.Lookups,
		Singleton:        IsSingleton(spec.PolicyType),
		Mutates:          true,
	}
	p.addConditions(spec.MatchConditions)
	p.addVariables(spec.Variables)
	for i := range spec.Mutations {
		m, path := &spec.Mutations[i], specPath.Child("mutations").Index(i)
		if m.Condition != nil {
			p.Expressions = append(p.Expressions, Expression{Role: MutationCondition, Path: path.Child("condition"), Source: *m.Condition, Index: i})
		}
		if m.Expression != nil {
			p.Expressions = append(p.Expressions, Expression{Role: Patch, Path: path.Child("expression"), Source: *m.Expression, Index: i})
			continue
		}
		for _, f := range PatchFields(m) {
			if f.Type == m.PatchType && f.Expression != nil {
				p.Expressions = append(p.Expressions, Expression{Role: Patch, Path: path.Child(f.Name, "expression"), Source: *f.Expression, Index: i, PatchType: f.Type})
			}
		}
	}
	p.addIndexes()
	return p
}
