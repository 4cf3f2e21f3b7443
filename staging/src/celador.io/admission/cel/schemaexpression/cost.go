// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package schemaexpression

import (
	apiservercel "k8s.io/apiserver/pkg/cel"

	"celador.io/admission/cel/internal/costbound"
)

// An ObjectSize bounds the size of an object.
type ObjectSize = costbound.Limits

// MaxCost returns what the expression costs at most for all values of self in an object of a size,
// in CEL cost units. It is infinite if the expression is too complex for an estimate. repetitions
// holds the limits that the schema declares for the lists and maps that self is in, outermost
// first; a negative number is no limit.
//
// Unlike Kubernetes' estimate, MaxCost counts the entries of all lists in a list, and the
// characters of all texts in it, together.
func (x *Expression) MaxCost(size ObjectSize, repetitions ...int64) (float64, error) {
	checked, err := x.ast()
	if err != nil {
		return 0, err
	}
	scope := &x.environment.scope
	bounded := costbound.Scope{
		Variables:   map[string]*apiservercel.DeclType{Self: scope.Self, OldSelf: scope.Self},
		Repetitions: repetitions,
		Outer:       map[string]*apiservercel.DeclType{},
	}
	for _, other := range scope.Others {
		if other.Name == Root || other.IsNamespace {
			bounded.Outer[other.Name] = other.Type
		} else {
			bounded.Variables[other.Name] = other.Type
		}
	}
	if scope.Shared != nil {
		bounded.Shared = scope.Shared.definitions
	}
	return costbound.Of(checked.NativeRep(), bounded, size), nil
}
