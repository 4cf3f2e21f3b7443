// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package servedtypes

import (
	"context"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/cel/openapi/resolver"
	"k8s.io/client-go/discovery"
	"k8s.io/kube-openapi/pkg/validation/spec"
)

// aggregated has the types of other servers. It remembers nothing, as nothing tells when
// they change.
type aggregated struct {
	has       func(schema.GroupVersion) bool
	discovery discovery.DiscoveryInterface
}

func (a aggregated) resources(ctx context.Context, version schema.GroupVersion) (resources, error) {
	return discover(ctx, a.discovery, version)
}

func (a aggregated) schema(kind schema.GroupVersionKind) (*spec.Schema, error) {
	return (&resolver.ClientDiscoveryResolver{Discovery: a.discovery}).ResolveSchema(kind)
}
