// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package activation provides the values of the variables that admission expressions read: the
// objects of a request, the request itself, its namespace, params and the authorizer. A value is
// created when an expression first reads it. All policies that match a request share its values.
package activation

import (
	"github.com/google/cel-go/interpreter"

	"celador.io/admission/cel/expression"
	"celador.io/admission/internal/locations"
	"celador.io/admission/policyspec"
)

// Subject holds the values of the variables that a series of expressions reads.
type Subject struct {
	*Input
	// Namespace may be nil for match conditions, which do not read it.
	Namespace *Namespace
	// Params is nil if 'params' is null or not declared.
	Params *ParamValue
	// Lookups is nil if 'lookups' is not declared.
	Lookups *Lookups
	// Location is the value for which an expression with a scope is evaluated, the value of 'self'.
	// It is nil if 'self' is not declared.
	Location *locations.Location
}

// activation resolves names such as 'object' and 'request' to the values of a subject, for one
// series of evaluations.
type activation struct {
	Subject
	role policyspec.Role
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
	case expression.Lookups:
		return a.Lookups.value(), a.Lookups != nil
	case expression.Self, expression.OldSelf, expression.Path:
		return a.located(name)
	case expression.Request:
		if a.role == policyspec.MatchCondition {
			return a.conditionRequestValue(), true
		}
		return a.requestValue(), true
	case expression.NamespaceObject:
		return a.Namespace.value(a.role.ReadsNamespace()), true
	}
	if !a.role.ReadsAuthorizer() || !a.authorizer.exists() {
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

// LookupCosts returns where the lookups add their costs, as package expression describes.
func (a *activation) LookupCosts() *expression.LookupCosts {
	if a.Lookups == nil {
		return nil
	}
	return &a.Lookups.costs
}

// located returns the value of 'self', 'oldSelf' or 'path', and false if the expression has no
// scope. 'oldSelf' is null if the old object does not have the value.
func (a *activation) located(name string) (any, bool) {
	switch {
	case a.Location == nil:
		return nil, false
	case name == expression.Self:
		return a.Location.Self, true
	case name == expression.OldSelf:
		return a.Location.OldSelf, true
	default:
		return a.Location.Path(), true
	}
}

// Parent implements interpreter.Activation. It returns nil, because an activation has no parent.
func (a *activation) Parent() interpreter.Activation { return nil }
