// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package expression

import (
	"github.com/google/cel-go/cel"
)

// maxTypeNodes is of how many types the type of a variable may be made, itself included.
const maxTypeNodes = 64

// VariableType returns the type that a variable has in the expressions that read it: that
// of its own expression or, if that is made of more than 64 types, the dynamic type. In
// {variables.v: variables.v}, a type is twice as large as that of v, and there may be many
// such variables. Safe for concurrent use.
func VariableType(output *cel.Type) *cel.Type {
	room := maxTypeNodes
	if !fitsInto(&room, output) {
		return cel.DynType
	}
	return output
}

// fitsInto takes the types that a type is made of from the room that is left. It looks at
// no more than there is room for.
func fitsInto(room *int, t *cel.Type) bool {
	if *room == 0 {
		return false
	}
	*room--
	for _, parameter := range t.Parameters() {
		if !fitsInto(room, parameter) {
			return false
		}
	}
	return true
}
