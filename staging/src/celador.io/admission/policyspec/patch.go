// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package policyspec

import (
	"fmt"
	"maps"
	"slices"

	v1 "celador.io/api/admissionregistration/v1"
	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
)

// patchTypes declares for each patch type what its expressions return, and the feature that it
// needs. The empty patch type is that of mutations with spec.mutations[].expression (KEP-3962,
// "Return Values for Mutating Expressions").
var patchTypes = map[v1.PatchType]struct {
	returns []*cel.Type
	// check narrows the field returns down. It returns an error for a type that API validation
	// rejects: merge patches have cel.AnyType in returns, although only Object and maps whose keys
	// may be strings are valid. It is nil for the other patch types.
	check func(*cel.Type) error
	// feature is empty for the patch types of Kubernetes.
	feature Feature
}{
	"":                              {returns: []*cel.Type{JSONPatchType, cel.ListType(JSONPatchType), cel.NullType, cel.BoolType}, feature: InlineExpressions},
	v1.PatchTypeApplyConfiguration:  {returns: []*cel.Type{ObjectType}},
	v1.PatchTypeJSONPatch:           {returns: []*cel.Type{cel.ListType(JSONPatchType)}},
	v1.PatchTypeJSONMergePatch:      {returns: []*cel.Type{cel.AnyType}, check: checkMergePatch, feature: InlineExpressions},
	v1.PatchTypeStrategicMergePatch: {returns: []*cel.Type{cel.AnyType}, check: checkMergePatch, feature: InlineExpressions},
}

// PatchTypes returns the patch types that the features allow, sorted.
func PatchTypes(features Features) []v1.PatchType {
	var allowed []v1.PatchType
	for _, t := range slices.Sorted(maps.Keys(patchTypes)) {
		if feature := patchTypes[t].feature; t != "" && (feature == "" || features[feature]) {
			allowed = append(allowed, t)
		}
	}
	return allowed
}

// PatchField is the field of a mutation that belongs to a patch type, such as jsonPatch to
// JSONPatch.
type PatchField struct {
	Type v1.PatchType
	// Name is the JSON name of the field.
	Name string
	// Expression is nil if the field is not set.
	Expression *string
}

// PatchFields returns the fields of a mutation that belong to patch types, set or not.
func PatchFields(m *v1.Mutation) []PatchField {
	return []PatchField{
		{v1.PatchTypeApplyConfiguration, "applyConfiguration", expressionOf((*v1.JSONPatch)(m.ApplyConfiguration))},
		{v1.PatchTypeJSONPatch, "jsonPatch", expressionOf(m.JSONPatch)},
		{v1.PatchTypeJSONMergePatch, "jsonMergePatch", expressionOf((*v1.JSONPatch)(m.JSONMergePatch))},
		{v1.PatchTypeStrategicMergePatch, "strategicMergePatch", expressionOf((*v1.JSONPatch)(m.StrategicMergePatch))},
	}
}

// expressionOf returns the expression of a patch. The callers convert other types of patches to
// v1.JSONPatch, because all have the same fields.
func expressionOf(patch *v1.JSONPatch) *string {
	if patch == nil {
		return nil
	}
	return &patch.Expression
}

// checkMergePatch returns an error for a type whose values do not become JSON objects, which merge
// patches of objects must be.
func checkMergePatch(output *cel.Type) error {
	if output.IsExactType(ObjectType) {
		return nil
	}
	if output.Kind() == types.MapKind {
		if key := output.Parameters()[0]; key.IsExactType(cel.StringType) || key.IsExactType(cel.DynType) {
			return nil
		}
	}
	return fmt.Errorf("must evaluate to %v or a map with keys of type string but got %v", ObjectType, output)
}
