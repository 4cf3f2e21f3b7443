// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package expression

import (
	"github.com/google/cel-go/cel"

	"celador.io/admission/cel/typesize"
)

const (
	// smallType is the size, in types, up to which a variable always keeps its type.
	smallType = 64
	// maxVariableType is the size, in types, above which a variable is declared as dyn. It is less
	// than half of typesize.MaxType, so that an expression can still construct a map whose keys and
	// values have types of this size.
	maxVariableType = typesize.MaxType/2 - 1
	// maxVariableWork bounds the memory for copying the type of one variable, which
	// typesize.Size.Work measures. maxPolicyWork bounds the sum over the variables of a policy
	// whose types are larger than smallType. A variable that would exceed a bound is declared as
	// dyn. A type of 145 nested lists exceeds maxVariableWork.
	maxVariableWork = 1 << 19
	maxPolicyWork   = 1 << 20
)

// VariableTypes assigns types to the variables of one policy. The zero value is ready for use.
// Not safe for concurrent use.
type VariableTypes struct{ work int }

// Of returns the declared type of the next variable: the type of its expression or, if that type is
// too large to check, the dynamic type. The type of {variables.v: variables.v} is twice as large as
// the type of v, so a few such variables exceed any limit.
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
