// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package mutating

import (
	"k8s.io/apimachinery/pkg/runtime"
	celconfig "k8s.io/apiserver/pkg/apis/cel"

	"celador.io/admission/activation"
	"celador.io/admission/expression"
	"celador.io/admission/matching"
)

// input is what expressions read of the request in one state.
type input struct {
	*activation.Input
	target matching.Target
	object runtime.Object
}

// subject is what the expressions of an invocation see of the object as it is now.
func (r *run) subject(i *invocation) activation.Subject {
	object := r.versioned.VersionedObject.Object()
	if r.input == nil || r.input.target != i.target || r.input.object != object {
		made := activation.NewInput(r.request.Attributes, i.target.Resource, i.target.Kind, object, r.versioned.VersionedOldObject.Object(), r.authorizer)
		r.input = &input{made, i.target, object}
	}
	return activation.Subject{Input: r.input.Input, Namespace: r.namespace, Params: activation.ParamsValue(i.param)}
}

// series evaluates one expression of a mutation, which has a budget of its own.
func (r *run) series(i *invocation) *expression.Series {
	return i.NewSeries(r.ctx, r.subject(i), activation.InValidations, expression.NewBudget(celconfig.RuntimeCELCostBudget))
}
