// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package servedtypes

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"golang.org/x/sync/singleflight"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/cel/openapi/resolver"
	"k8s.io/client-go/discovery"
	"k8s.io/kube-openapi/pkg/validation/spec"

	"celador.io/admission/panics"
)

// builtIn finds types that are compiled into the server. It caches what it finds, because that does
// not change.
type builtIn struct {
	has       func(schema.GroupVersion) bool
	discovery discovery.DiscoveryInterface
	resolver  resolver.SchemaResolver

	// served holds resources by their group version, and schemas *spec.Schema by their kind.
	served, schemas sync.Map
	// requests are those for what is not known yet.
	requests singleflight.Group
	// resolving is held while a schema is resolved, so that schemas are resolved one after the
	// other: each takes much memory for a moment, because the document of its group version is
	// read.
	resolving sync.Mutex
}

func newBuiltIn(c Config) *builtIn {
	return &builtIn{has: c.BuiltIn, discovery: c.Discovery, resolver: c.Schemas}
}

// resources returns nil for a group version that is not built in.
func (b *builtIn) resources(ctx context.Context, version schema.GroupVersion) (resources, error) {
	if !b.has(version) {
		return nil, nil
	}
	if known, ok := b.served.Load(version); ok {
		return known.(resources), nil
	}
	return share(ctx, &b.requests, "resources of "+version.String(), func() (resources, error) {
		found, err := discover(context.WithoutCancel(ctx), b.discovery, version)
		// While a cluster is upgraded, a server that is still old may answer that it serves
		// nothing, so such an answer is not kept.
		if err == nil && len(found) > 0 {
			b.served.Store(version, found)
		}
		return found, err
	})
}

func (b *builtIn) schema(ctx context.Context, kind schema.GroupVersionKind) (*spec.Schema, error) {
	if known, ok := b.schemas.Load(kind); ok {
		return known.(*spec.Schema), nil
	}
	return share(ctx, &b.requests, "schema of "+kind.String(), func() (*spec.Schema, error) {
		b.resolving.Lock()
		defer b.resolving.Unlock()
		found, err := b.resolver.ResolveSchema(kind)
		if err == nil {
			b.schemas.Store(kind, found)
		}
		return found, err
	})
}

// objectMeta returns the schema of ObjectMeta.
func (b *builtIn) objectMeta(ctx context.Context) (*spec.Schema, error) {
	s, err := b.schema(ctx, schema.GroupVersionKind{Version: "v1", Kind: "Namespace"})
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

func (a aggregated) schema(ctx context.Context, kind schema.GroupVersionKind) (*spec.Schema, error) {
	// The request of another caller may be older than the change for which this one asks.
	return share(ctx, &singleflight.Group{}, "schema of "+kind.String(), func() (*spec.Schema, error) {
		return documents{a.discovery}.ResolveSchema(kind)
	})
}

// share returns the answer to a request, or an error when ctx ends. The request goes on until it is
// answered or the client gives up, so that the next caller may know the answer. Callers with the
// same key share a request that is under way.
func share[V any](ctx context.Context, requests *singleflight.Group, key string, request func() (V, error)) (answer V, err error) {
	answered := requests.DoChan(key, func() (_ any, err error) {
		// Without this, a panic would end the process: the caller cannot recover it.
		defer func() {
			if panicked := recover(); panicked != nil {
				panics.Record(panics.Schema, panicked, "types", key)
				err = fmt.Errorf("%s: panic: %v", key, panicked)
			}
		}()
		return request()
	})
	select {
	case a := <-answered:
		if a.Err != nil {
			return answer, a.Err
		}
		return a.Val.(V), nil
	case <-ctx.Done():
		return answer, fmt.Errorf("%s: the server has not answered yet: %w", key, ctx.Err())
	}
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
