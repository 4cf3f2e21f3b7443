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

// A resource is the resource that serves a kind.
type resource struct {
	schema.GroupVersionResource
	namespaced bool
}

// resolve returns the resource that serves a kind. If no resource does, the error satisfies
// notServed; any other error is a failure of discovery.
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
