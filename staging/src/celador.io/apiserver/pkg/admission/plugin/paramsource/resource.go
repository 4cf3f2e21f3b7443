// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package paramsource

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// A Resource is the resource that serves a kind.
type Resource struct {
	schema.GroupVersionResource
	Namespaced bool
}

// Resolve returns the resource that serves a kind and supports the given verbs. If there is none,
// the error satisfies NotServed. Any other error is a failure of discovery.
func Resolve(ctx context.Context, discovery Discovery, gvk schema.GroupVersionKind, verbs ...string) (Resource, error) {
	gv := gvk.GroupVersion()
	list, err := discovery.ServerResourcesForGroupVersionWithContext(ctx, gv.String())
	if err != nil {
		return Resource{}, fmt.Errorf("resources of %v: %w", gv, err)
	}
	var unserved error = &meta.NoKindMatchError{GroupKind: gvk.GroupKind(), SearchedVersions: []string{gvk.Version}}
	for _, r := range list.APIResources {
		if subresource := strings.Contains(r.Name, "/"); r.Kind != gvk.Kind || subresource {
			continue
		}
		lacks := slices.IndexFunc(verbs, func(verb string) bool { return !slices.Contains(r.Verbs, verb) })
		if lacks < 0 {
			return Resource{gv.WithResource(r.Name), r.Namespaced}, nil
		}
		unserved = fmt.Errorf("resource %s has no verb %s, so that no policy can read its objects: %w", r.Name, verbs[lacks], unserved)
	}
	return Resource{}, unserved
}
