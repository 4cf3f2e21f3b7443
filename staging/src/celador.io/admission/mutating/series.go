// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package mutating

import (
	celconfig "k8s.io/apiserver/pkg/apis/cel"

	"celador.io/admission/cel/expression"
	"celador.io/admission/internal/activation"
	"celador.io/admission/matching"
	"celador.io/admission/policyspec"
)

// input returns the input of a target. The caller sets its objects with Input.Show.
func (r *applier) input(target *matching.Target) *activation.Input {
	for _, in := range r.inputs {
		if in.Target == target {
			return in
		}
	}
	in := activation.NewInput(r.request.Attributes, target, nil, nil, r.authorizer, &r.time)
	r.inputs = append(r.inputs, in)
	return in
}

// subject returns the objects, the namespace, the param and the lookups that the expressions of an
// invocation read. values holds the objects in the kind of its target.
func (r *applier) subject(i *invocation, values *objectValues) activation.Subject {
	input := r.input(i.target)
	// Kubernetes converts both objects before it evaluates expressions, even if the expressions
	// read neither.
	oldObject := values.oldObject.show(r.versioned.VersionedOldObject.Object(), values.form)
	input.Show(values.object.show(r.versioned.VersionedObject.Object(), values.form), oldObject)
	if !r.params.Of(i.param) {
		r.params = activation.NewParamValue(i.param, activation.Typed)
	}
	return activation.Subject{Input: input, Namespace: r.namespace, Params: r.params, Lookups: i.lookups}
}

// series returns a series for one expression of a mutation. Each expression has its own cost
// budget.
func (r *applier) series(i *invocation) *expression.Series {
	memory := &activation.Memory{}
	return memory.Begin(r.ctx, r.subject(i, r.valuesOf(i.target.Kind)), policyspec.Patch, i.Variables, celconfig.RuntimeCELCostBudget)
}
