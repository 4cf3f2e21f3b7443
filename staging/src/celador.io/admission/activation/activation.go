// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package activation

import (
	"context"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/interpreter"

	"celador.io/admission/expression"
)

// Subject is what a series of expressions is evaluated on.
type Subject struct {
	*Input
	// Namespace may be nil where the scope has none.
	Namespace *Namespace
	// Params is nil where expressions have no params.
	Params *Params
}

// Scope is what a series of evaluations sees of its subject.
type Scope int

const (
	// InMessages is the scope of messages, without 'authorizer'.
	InMessages Scope = iota
	// InValidations is the scope of validations.
	InValidations
	// InAnnotations is the scope of audit annotations, without 'authorizer'.
	InAnnotations
	// InMutations is the scope of mutations.
	InMutations
	// InConditions is the scope of match conditions, in which 'namespaceObject' is null.
	InConditions
)

// activation resolves names for one series of evaluations.
type activation struct {
	Subject
	scope Scope
}

// ResolveName implements interpreter.Activation.
func (a *activation) ResolveName(name string) (any, bool) {
	switch name {
	case expression.Object:
		return a.object, true
	case expression.OldObject:
		return a.oldObject, true
	case expression.Params:
		return a.Params.value(), true
	case expression.Request:
		if a.scope == InConditions {
			return a.conditionRequestValue(), true
		}
		return a.requestValue(), true
	case expression.NamespaceObject:
		if a.scope == InConditions {
			return types.NullValue, true
		}
		return a.Namespace.value(a.scope), true
	}
	if a.scope == InMessages || a.scope == InAnnotations || a.authorizer == nil {
		return nil, false
	}
	switch name {
	case expression.Authorizer:
		return a.authorizerVal(), true
	case expression.RequestResource:
		return a.requestResourceVal(), true
	default:
		return nil, false
	}
}

// Parent implements interpreter.Activation. There is none.
func (a *activation) Parent() interpreter.Activation { return nil }

// NewSeries returns a series of evaluations on a subject, with the given variables and
// budget.
func NewSeries(ctx context.Context, subject Subject, scope Scope, variables []expression.Variable, budget *expression.Budget) *expression.Series {
	// One piece of memory for both.
	made := &struct {
		series     expression.Series
		activation activation
	}{activation: activation{subject, scope}}
	made.series = *expression.NewSeries(ctx, &made.activation, variables, budget)
	return &made.series
}
