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

// resource is how a kind is served.
type resource struct {
	schema.GroupVersionResource
	namespaced bool
}

// resolve returns the resource of a kind. The error satisfies notServed when the
// server knows of none; otherwise it could not tell.
func resolve(ctx context.Context, discovery Discovery, gvk schema.GroupVersionKind) (resource, error) {
	gv := gvk.GroupVersion()
	list, err := discovery.ServerResourcesForGroupVersionWithContext(ctx, gv.String())
	if err != nil {
		return resource{}, fmt.Errorf("resources of %v: %w", gv, err)
	}
	for _, r := range list.APIResources {
		if subresource := strings.Contains(r.Name, "/"); r.Kind == gvk.Kind && !subresource {
			return resource{gv.WithResource(r.Name), r.Namespaced}, nil
		}
	}
	return resource{}, &meta.NoKindMatchError{GroupKind: gvk.GroupKind(), SearchedVersions: []string{gvk.Version}}
}
