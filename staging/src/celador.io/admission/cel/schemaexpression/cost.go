// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package schemaexpression

import (
	apiservercel "k8s.io/apiserver/pkg/cel"

	"celador.io/admission/cel/internal/costbound"
)

// An ObjectSize bounds the size of an object.
type ObjectSize = costbound.SizeLimits

// MaxCost returns an upper bound of the expression's cost for one object of the given size, in CEL
// cost units: the sum over all values of self in the object. It is infinite if the expression is
// too complex for an estimate. repetitions holds the limits that the schema declares for the lists
// and maps around self, outermost first; a negative number is no limit.
//
// Kubernetes' estimate multiplies the limits of nested lists. MaxCost instead bounds the number of
// entries of all lists at one path together by the size of the object, and likewise the number of
// characters of all texts.
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
