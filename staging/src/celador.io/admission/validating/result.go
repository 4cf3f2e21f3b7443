// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package validating

import (
	"iter"
	"slices"

	v1 "celador.io/api/admissionregistration/v1"
)

// Result is all that the policies in effect have to say about a request.
type Result struct {
	applications []application
	// Annotations are in the order of policy name and spec.auditAnnotations.
	Annotations []Annotation
	// Conditions has a report for each binding through which match conditions ended
	// the evaluation of a policy.
	Conditions []ConditionReport
	// Ignored has the policy name of each failure of match conditions or of an audit
	// annotation that the policy's failurePolicy lets pass.
	Ignored []string
}

// application is the outcome of an evaluation in the name of a binding. Many bindings
// may share the decisions, which do not have the names in them.
type application struct {
	policy, binding string
	actions         []v1.ValidationAction
	decisions       []Decision
}

// Decisions returns all decisions in the order of policy name, binding name and
// validation.
func (r Result) Decisions() []Decision {
	return slices.Collect(r.decisions(func(*Decision) bool { return true }))
}

// Objections returns the decisions that are not Admitted, ignored failures among them,
// in the same order.
func (r Result) Objections() iter.Seq[Decision] {
	return r.decisions(func(d *Decision) bool { return d.Outcome != Admitted })
}

func (r Result) decisions(wanted func(*Decision) bool) iter.Seq[Decision] {
	return func(yield func(Decision) bool) {
		for i := range r.applications {
			a := &r.applications[i]
			for j := range a.decisions {
				if !wanted(&a.decisions[j]) {
					continue
				}
				d := a.decisions[j]
				d.Policy, d.Binding, d.Actions = a.policy, a.binding, a.actions
				if !yield(d) {
					return
				}
			}
		}
	}
}
