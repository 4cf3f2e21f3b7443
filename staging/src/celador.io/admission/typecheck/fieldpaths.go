// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package typecheck

import (
	"fmt"
	"maps"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"

	"celador.io/admission/cel/rulepath"
	"celador.io/admission/policyspec"
	"celador.io/admission/spelling"
)

// checkFieldPaths adds findings for each fieldPath whose field no type of the policy's objects has.
// It adds none if objects may have other types than those that were checked.
//
// The findings do not keep an Enforced policy from deciding, because a fieldPath has no part in the
// decision. For this purpose they are Guarded, although no has() guards anything, and Unknown.
func checkFieldPaths(policy *policyspec.Anatomy, checked []checkedType, coversAll bool, result *Result) {
	if !coversAll {
		return
	}
	for _, f := range policy.FieldPaths {
		path, err := rulepath.ParseFieldPath(f.Source)
		if err != nil {
			continue // an error of API validation
		}
		var findings []Finding
		for _, t := range checked {
			missing := missingField(path, t.object)
			if missing == "" {
				findings = nil
				break
			}
			findings = append(findings, Finding{
				Field: f.Path.String(), Type: t.object.kind, Message: missing, Issues: []Issue{{Line: 1, Column: 1, Message: missing}},
				Guarded: true, Unknown: true,
			})
		}
		result.Findings = append(result.Findings, findings...)
	}
}

// missingField describes the first segment of a path for which the type has no field. It returns ""
// if objects of the type may have the field at the path.
func missingField(path rulepath.Path, object resolvedType) string {
	table := newTypeTable(nil)
	at := table.root(object)
	for i, segment := range path {
		parent := "the object"
		if i > 0 {
			parent = path[:i].String()
		}
		switch at.Kind() {
		case types.StructKind:
			fields := table.objects[at.TypeName()]
			next := table.fieldOf(at.TypeName(), fields, segment.Name)
			if next == nil {
				message := fmt.Sprintf("%s has no field %q", parent, segment.Name)
				if len(fields.Properties) <= maxNames {
					if near := spelling.Nearest(segment.Name, maps.Keys(fields.Properties)); near != "" {
						message += fmt.Sprintf(": did you mean %q?", near)
					}
				}
				return message
			}
			at = next
		case types.MapKind:
			at = at.Parameters()[1]
		case types.DynKind:
			return ""
		case types.ListKind:
			return fmt.Sprintf("%s is a list, and has no field %q", parent, segment.Name)
		default:
			return fmt.Sprintf("%s has type %s, and no field %q", parent, cel.FormatCELType(at), segment.Name)
		}
	}
	return ""
}
