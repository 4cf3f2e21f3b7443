// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package mutating

import (
	"github.com/google/cel-go/common/types"
	"k8s.io/apimachinery/pkg/runtime"

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

func (r *run) series(i *invocation, scope activation.Scope, budget int64) *expression.Series {
	object := r.versioned.VersionedObject.Object()
	if r.input == nil || r.input.target != i.target || r.input.object != object {
		made := activation.NewInput(r.request.Attributes, i.target.Resource, i.target.Kind, object, r.versioned.VersionedOldObject.Object(), r.authorizer)
		r.input = &input{made, i.target, object}
	}
	subject := activation.Subject{Input: r.input.Input, Namespace: r.namespace, Params: types.NullValue}
	if i.param != nil {
		subject.Params = types.DefaultTypeAdapter.NativeToValue(i.param.Object)
	}
	return activation.NewSeries(r.ctx, subject, scope, i.Variables, expression.NewBudget(budget))
}
