// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package servedtypes

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/cel/openapi/resolver"
	"k8s.io/client-go/discovery"
	"k8s.io/kube-openapi/pkg/validation/spec"
)

// aggregated has the types of other servers. It remembers nothing, as nothing tells whether
// they are still the same.
type aggregated struct {
	has       func(schema.GroupVersion) bool
	discovery discovery.DiscoveryInterface
}

func (a aggregated) resources(ctx context.Context, version schema.GroupVersion) (resources, error) {
	found, err := discover(ctx, a.discovery, version)
	if err == nil && len(found) == 0 {
		// Just registered, or about to be: the server for it is not the one that answers.
		err = fmt.Errorf("%v: nothing is served, although another server is registered", version)
	}
	return found, err
}

func (a aggregated) schema(kind schema.GroupVersionKind) (*spec.Schema, error) {
	return (&resolver.ClientDiscoveryResolver{Discovery: a.discovery}).ResolveSchema(kind)
}
