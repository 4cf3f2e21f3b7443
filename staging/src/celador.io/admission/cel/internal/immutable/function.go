// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package immutable

import (
	"slices"

	"github.com/google/cel-go/common/functions"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
	"k8s.io/apimachinery/pkg/util/sets"
	apiservercel "k8s.io/apiserver/pkg/cel"
)

// changing holds the functions that may change their first argument.
var changing = sets.New(operators.Add, "isGreaterThan", "isLessThan", "compareTo")

// Changes reports whether calls of a function need the implementation that Function returns.
func Changes(function string) bool { return changing.Has(function) }

// Function returns an implementation of an overload of the named function that changes none of its
// arguments, at the same CEL cost. It returns the given implementation for most functions.
func Function(name string, implementation *functions.Overload) *functions.Overload {
	if !Changes(name) {
		return implementation
	}
	unchanging := *implementation
	if binary := implementation.Binary; binary != nil {
		unchanging.Binary = func(left, right ref.Val) ref.Val { return binary(detached(left), right) }
	}
	if function := implementation.Function; function != nil {
		unchanging.Function = func(args ...ref.Val) ref.Val {
			if len(args) > 0 {
				args = slices.Clone(args)
				args[0] = detached(args[0])
			}
			return function(args...)
		}
	}
	return &unchanging
}

// detached returns a value that is equal to v, and whose methods do not write to memory that v
// refers to. For most values this is v itself.
func detached(v ref.Val) ref.Val {
	switch v := v.(type) {
	case types.Bytes:
		return slices.Clip(v)
	case apiservercel.Quantity:
		own := *v.Quantity
		return apiservercel.Quantity{Quantity: &own}
	case *apiservercel.Quantity:
		own := *v.Quantity
		return &apiservercel.Quantity{Quantity: &own}
	case traits.MutableLister:
		return v.ToImmutableList()
	default:
		return v
	}
}
