// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package validating

import (
	"context"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/interpreter"

	"celador.io/admission/expression"
)

// subject is what the expressions of one policy are evaluated on.
type subject struct {
	*input
	namespace *namespace
	params    ref.Val
}

// scope is what a series of evaluations sees of its subject.
type scope int

const (
	// inMessages is the scope without 'authorizer'.
	inMessages scope = iota
	inValidations
	// inConditions is the scope without 'namespaceObject'.
	inConditions
)

// activation resolves names for one series of evaluations.
type activation struct {
	subject
	scope scope
}

// ResolveName implements interpreter.Activation.
func (a *activation) ResolveName(name string) (any, bool) {
	switch name {
	case expression.Object:
		return a.object, true
	case expression.OldObject:
		return a.oldObject, true
	case expression.Params:
		return a.params, true
	case expression.Request:
		if a.scope == inConditions {
			return a.conditionRequestValue(), true
		}
		return a.requestValue(), true
	case expression.NamespaceObject:
		if a.scope == inConditions {
			return types.NullValue, true
		}
		return a.namespace.value(), true
	}
	if a.scope == inMessages || a.authz == nil {
		return nil, false
	}
	switch name {
	case expression.Authorizer:
		return a.authorizerValue(), true
	case expression.RequestResource:
		return a.requestResourceValue(), true
	default:
		return nil, false
	}
}

// Parent implements interpreter.Activation. There is none.
func (a *activation) Parent() interpreter.Activation { return nil }

// newSeries returns a series for expressions of the policy.
func (p *policy) newSeries(ctx context.Context, s subject, in scope, budget *expression.Budget) *expression.Series {
	// One piece of memory for both.
	made := &struct {
		series     expression.Series
		activation activation
	}{activation: activation{s, in}}
	made.series = *expression.NewSeries(ctx, &made.activation, p.variables, budget)
	return &made.series
}
