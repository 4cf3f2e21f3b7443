// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package servedtypes

import (
	"cmp"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// CustomResource is a custom resource that was looked for, and what was found.
type CustomResource struct {
	// GroupVersionKind has no kind if a resource was looked for and not found.
	schema.GroupVersionKind
	// Definition is the name of the CustomResourceDefinition. It is empty if a kind was
	// looked for and not found.
	Definition string
	// UID and Generation are those of the CustomResourceDefinition. They are empty and 0
	// when there is none or when it is not in use yet.
	UID        types.UID
	Generation int64
}

// Exists tells whether there is a definition. The version need not be served.
func (r CustomResource) Exists() bool { return r.UID != "" }

func compare(a, b CustomResource) int {
	return cmp.Or(
		cmp.Compare(a.Group, b.Group),
		cmp.Compare(a.Version, b.Version),
		cmp.Compare(a.Kind, b.Kind),
		cmp.Compare(a.Definition, b.Definition))
}
