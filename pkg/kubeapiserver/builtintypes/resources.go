// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package builtintypes

import (
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Resources returns the kinds of the resources of a built-in group version, by the names of the
// resources, whether the server serves them or not. It derives the names from the kinds, which is
// correct for all built-in resources. The result has entries for lists and options as well, and is
// empty for a group version that is not built in.
func Resources(version schema.GroupVersion) map[string]string {
	resources := map[string]string{}
	for kind := range Scheme().KnownTypes(version) {
		resource, _ := meta.UnsafeGuessKindToResource(version.WithKind(kind))
		resources[resource.Resource] = kind
	}
	return resources
}
