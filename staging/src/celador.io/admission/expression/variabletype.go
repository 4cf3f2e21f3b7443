// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package expression

import (
	"github.com/google/cel-go/cel"

	"celador.io/admission/typesize"
)

const (
	// smallType is of how many types the type of a variable may be made in any case.
	smallType = 64
	// maxVariableType is of how many it may be made if there are few such variables. An
	// expression may make a map with two of that size.
	maxVariableType = typesize.MaxType/2 - 1
	// maxVariableWork and maxPolicyWork are limits of typesize.Size.Work, for the type of one
	// variable and for those of all variables that are not small. It takes 145 lists in lists
	// to exceed the first.
	maxVariableWork = 1 << 19
	maxPolicyWork   = 1 << 20
)

// VariableTypes decides which types the variables of one policy have in the expressions that
// read them. The zero value is ready for use. Not safe for concurrent use.
type VariableTypes struct{ work int }

// Of returns the type of the next variable: that of its own expression or, if that is very
// large, the dynamic type. In {variables.v: variables.v}, a type is twice as large as that
// of v, and there may be many such variables.
func (v *VariableTypes) Of(output *cel.Type) *cel.Type {
	switch size := typesize.Of(output); {
	case size.Types <= smallType:
		return output
	case size.Types > maxVariableType || size.Work > maxVariableWork || v.work+size.Work > maxPolicyWork:
		return cel.DynType
	default:
		v.work += size.Work
		return output
	}
}
