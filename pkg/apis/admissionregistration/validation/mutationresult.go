// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"fmt"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"k8s.io/apiserver/pkg/cel/mutation"
)

// result says what the expression of a mutation has to give.
type result struct {
	// types are exact; cel.AnyType leaves the decision to check.
	types []*cel.Type
	check func(*cel.Type) error
}

var (
	jsonPatchType = cel.ObjectType(mutation.JSONPatchTypeName)
	objectType    = cel.ObjectType(mutation.ObjectTypeName)

	anObject      = result{types: []*cel.Type{objectType}}
	listOfPatches = result{types: []*cel.Type{cel.ListType(jsonPatchType)}}
	mergePatch    = result{types: []*cel.Type{cel.AnyType}, check: checkMergePatch}
	// inline is what KEP-3775 wants of mutations[].expression, under "Return Values for
	// Mutating Expressions".
	inline = result{types: []*cel.Type{jsonPatchType, cel.ListType(jsonPatchType), cel.NullType, cel.BoolType}}
)

// checkMergePatch accepts what becomes a JSON object.
func checkMergePatch(output *cel.Type) error {
	if output.IsExactType(objectType) {
		return nil
	}
	if output.Kind() == types.MapKind {
		if key := output.Parameters()[0]; key.IsExactType(cel.StringType) || key.IsExactType(cel.DynType) {
			return nil
		}
	}
	return fmt.Errorf("must evaluate to %v or a map with keys of type string but got %v", objectType, output)
}

// complaints returns what is wrong with a type that is one of r.types.
func (r result) complaints(output *cel.Type) []string {
	if r.check == nil {
		return nil
	}
	if err := r.check(output); err != nil {
		return []string{err.Error()}
	}
	return nil
}
