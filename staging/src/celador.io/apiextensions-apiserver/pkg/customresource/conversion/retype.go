// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package conversion

import (
	"slices"

	"github.com/google/cel-go/common/types"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"

	"celador.io/apiextensions-apiserver/pkg/customresource/rulepath"
)

// covers reports whether a rule that sets the fields at a path determines the field that was
// retyped: it sets that field, one above it or one in it.
func (r *retyping) covers(path rulepath.Path) bool {
	n := min(len(path), len(r.path))
	return slices.Equal(path[:n], r.path[:n])
}

// discarded returns the path of the values that a conversion must not copy, because the target does
// not accept their type. For items of a list, these are the items if a rule sets each of them.
// Otherwise the whole list is left out, because a list cannot lack single items.
func (r *retyping) discarded(rules []rulepath.Path) rulepath.Path {
	path := r.path
	for len(path) > 0 && path[len(path)-1].Each {
		if slices.ContainsFunc(rules, func(rule rulepath.Path) bool { return len(rule) >= len(path) && r.covers(rule) }) {
			break
		}
		path = path[:len(path)-1]
	}
	return path
}

// blank returns a function that makes the value without content that takes the place of a discarded
// item.
func blank(target *structuralschema.Structural) func() any {
	switch target.Type {
	case "object":
		return func() any { return map[string]any{} }
	case "array":
		return func() any { return []any{} }
	default:
		return func() any { return nil }
	}
}

// mayMerge reports whether a result of the type may be an object that a rule constructs, which is
// merged into the existing value.
func mayMerge(output *types.Type) bool {
	for isOptional(output) {
		output = output.Parameters()[0]
	}
	return output.Kind() == types.StructKind || output.Kind() == types.DynKind
}
