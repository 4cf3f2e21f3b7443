// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package paramsource

import (
	"context"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// A Resource is the resource that serves a kind.
type Resource struct {
	schema.GroupVersionResource
	Namespaced bool
}

// Resolve returns the resource that serves a kind. If no resource does, the error satisfies
// NotServed; any other error is a failure of discovery.
func Resolve(ctx context.Context, discovery Discovery, gvk schema.GroupVersionKind) (Resource, error) {
	gv := gvk.GroupVersion()
	list, err := discovery.ServerResourcesForGroupVersionWithContext(ctx, gv.String())
	if err != nil {
		return Resource{}, fmt.Errorf("resources of %v: %w", gv, err)
	}
	for _, r := range list.APIResources {
		if subresource := strings.Contains(r.Name, "/"); r.Kind == gvk.Kind && !subresource {
			return Resource{gv.WithResource(r.Name), r.Namespaced}, nil
		}
	}
	return Resource{}, &meta.NoKindMatchError{GroupKind: gvk.GroupKind(), SearchedVersions: []string{gvk.Version}}
}
