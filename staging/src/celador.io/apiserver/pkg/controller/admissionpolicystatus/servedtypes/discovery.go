// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package servedtypes

import (
	"context"
	"fmt"
	"strings"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/cel/openapi/resolver"
	"k8s.io/client-go/discovery"
	"k8s.io/kube-openapi/pkg/validation/spec"
)

// builtIn finds types that are compiled into the server. It caches what it finds, because that does
// not change.
type builtIn struct {
	has       func(schema.GroupVersion) bool
	discovery discovery.DiscoveryInterface
	resolver  resolver.SchemaResolver

	// servedLock guards served. It is held during requests for discovery.
	servedLock sync.Mutex
	served     map[schema.GroupVersion]resources
	// schemasLock guards schemas. It is a lock of its own, because the warnings about a policy that
	// is written need schemas and must not wait for discovery.
	schemasLock sync.Mutex
	schemas     map[schema.GroupVersionKind]*spec.Schema
}

func newBuiltIn(c Config) *builtIn {
	return &builtIn{
		has:       c.BuiltIn,
		discovery: c.Discovery,
		resolver:  c.Schemas,
		served:    map[schema.GroupVersion]resources{},
		schemas:   map[schema.GroupVersionKind]*spec.Schema{},
	}
}

// resources returns nil for a group version that is not built in.
func (b *builtIn) resources(ctx context.Context, version schema.GroupVersion) (resources, error) {
	if !b.has(version) {
		return nil, nil
	}
	b.servedLock.Lock()
	defer b.servedLock.Unlock()
	if known, ok := b.served[version]; ok {
		return known, nil
	}
	found, err := discover(ctx, b.discovery, version)
	// While a cluster is upgraded, a server that is still old may answer that it serves nothing.
	if err == nil && len(found) > 0 {
		b.served[version] = found
	}
	return found, err
}

func (b *builtIn) schema(kind schema.GroupVersionKind) (*spec.Schema, error) {
	b.schemasLock.Lock()
	defer b.schemasLock.Unlock()
	if known, ok := b.schemas[kind]; ok {
		return known, nil
	}
	found, err := b.resolver.ResolveSchema(kind)
	if err == nil {
		b.schemas[kind] = found
	}
	return found, err
}

// objectMeta returns the schema of ObjectMeta.
func (b *builtIn) objectMeta() (*spec.Schema, error) {
	s, err := b.schema(schema.GroupVersionKind{Version: "v1", Kind: "Namespace"})
	if err != nil {
		return nil, fmt.Errorf("schema of metadata: %w", err)
	}
	metadata := s.Properties["metadata"]
	return &metadata, nil
}

// aggregated finds types of aggregated servers. It caches nothing, because these servers do not
// announce changes of their types.
type aggregated struct {
	has       func(schema.GroupVersion) bool
	discovery discovery.DiscoveryInterface
}

func (a aggregated) resources(ctx context.Context, version schema.GroupVersion) (resources, error) {
	found, err := discover(ctx, a.discovery, version)
	if err == nil && len(found) == 0 {
		// Right after an APIService was created, this server may still answer the discovery of its
		// version itself, with no resources.
		err = fmt.Errorf("%v: nothing is served, although another server is registered", version)
	}
	return found, err
}

func (a aggregated) schema(kind schema.GroupVersionKind) (*spec.Schema, error) {
	return (&resolver.ClientDiscoveryResolver{Discovery: a.discovery}).ResolveSchema(kind)
}

// resources maps the resources of a group version to their kinds.
type resources map[string]string

func (r resources) ofKind(kind string) (resource string, ok bool) {
	for resource, k := range r {
		if k == kind {
			return resource, true
		}
	}
	return "", false
}

// discover returns the resources of a group version, but not their subresources. The map is empty
// for a group version that is not served.
func discover(ctx context.Context, client discovery.DiscoveryInterface, version schema.GroupVersion) (resources, error) {
	list, err := discovery.ToDiscoveryInterfaceWithContext(client).ServerResourcesForGroupVersionWithContext(ctx, version.String())
	if apierrors.IsNotFound(err) {
		return resources{}, nil
	}
	if err != nil {
		return nil, err
	}
	found := resources{}
	for _, r := range list.APIResources {
		if !strings.Contains(r.Name, "/") {
			found[r.Name] = r.Kind
		}
	}
	return found, nil
}
