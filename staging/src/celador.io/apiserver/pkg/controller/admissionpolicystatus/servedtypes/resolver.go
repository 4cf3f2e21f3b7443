// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package servedtypes finds the kinds, resources and schemas that a server serves: built-in
// types, custom resources, and types of aggregated servers.
package servedtypes

import (
	"cmp"
	"context"
	"fmt"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiextensionsinformers "k8s.io/apiextensions-apiserver/pkg/client/informers/externalversions/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apiserver/pkg/cel/openapi/resolver"
	"k8s.io/client-go/discovery"
)

// Config holds the sources of types, all of them safe for concurrent use.
type Config struct {
	// Discovery asks the server itself, which also answers for custom resources and aggregated
	// servers.
	Discovery discovery.DiscoveryInterface
	// BuiltIn reports whether a group version is compiled into the server. The resources of a
	// built-in group version do not change while the server runs.
	BuiltIn func(schema.GroupVersion) bool
	// Schemas resolves the schemas of built-in types.
	Schemas resolver.SchemaResolver
	// Aggregated reports whether an aggregated server serves the group version at present.
	Aggregated func(schema.GroupVersion) bool
	// CRDs is the informer of CustomResourceDefinitions, or nil if the server has no
	// custom resources.
	CRDs apiextensionsinformers.CustomResourceDefinitionInformer
}

// A Resolver finds types as they are served at the moment. It is safe for concurrent use.
type Resolver struct {
	builtIn    *builtIn
	aggregated aggregated
	crds       *crds
}

// New returns a resolver. The resolver calls changed with every CustomResourceDefinition that is
// added, deleted, or changed in what is served, after its own answers reflect the event; a changed
// CustomResourceDefinition is passed in its old and in its new state. Call New before the informer
// of CustomResourceDefinitions starts. New fails if that informer has already stopped.
func New(c Config, changed func(*apiextensionsv1.CustomResourceDefinition)) (*Resolver, error) {
	builtIn := newBuiltIn(c)
	crds, err := newCRDs(c.CRDs, builtIn.objectMeta, changed)
	if err != nil {
		return nil, fmt.Errorf("following custom resource definitions: %w", err)
	}
	return &Resolver{builtIn, aggregated{c.Aggregated, c.Discovery}, crds}, nil
}

// HasSynced reports whether the resolver has processed all CustomResourceDefinitions that existed
// when the informer started.
func (s *Resolver) HasSynced() bool { return s.crds.synced() }

// TypeFinder returns a TypeFinder that is usable until ctx ends. It waits for no server longer than
// that.
func (s *Resolver) TypeFinder(ctx context.Context) *TypeFinder {
	return s.newTypeFinder(ctx,
		func(version schema.GroupVersion) (resources, error) { return s.builtIn.resources(ctx, version) },
		func(version schema.GroupVersion) (resources, error) { return s.aggregated.resources(ctx, version) })
}

// BuiltInTypeFinder returns a TypeFinder that finds only built-in types. It is usable until ctx
// ends.
func (s *Resolver) BuiltInTypeFinder(ctx context.Context) *TypeFinder {
	none := func(schema.GroupVersion) bool { return false }
	builtIn := &Resolver{s.builtIn, aggregated{has: none}, noCRDs()}
	return builtIn.TypeFinder(ctx)
}

// LocalTypeFinder returns a TypeFinder that sends no requests. builtIn returns the kinds of a
// built-in group version by the names of their resources. The TypeFinder answers with an error for
// types of aggregated servers.
func (s *Resolver) LocalTypeFinder(builtIn func(schema.GroupVersion) map[string]string) *TypeFinder {
	return s.newTypeFinder(context.Background(), func(version schema.GroupVersion) (resources, error) {
		if !s.builtIn.has(version) {
			return nil, nil
		}
		return builtIn(version), nil
	}, func(version schema.GroupVersion) (resources, error) {
		return nil, fmt.Errorf("%v: another server serves the types", version)
	})
}

func (s *Resolver) newTypeFinder(ctx context.Context, builtIn, aggregated func(schema.GroupVersion) (resources, error)) *TypeFinder {
	return &TypeFinder{resolver: s, ctx: ctx, builtIn: builtIn, aggregated: aggregated, crds: map[string]*establishedCRD{}, seen: sets.New[CustomResourceType]()}
}

// Find looks up the custom resource of a kind.
func (s *Resolver) Find(kind schema.GroupVersionKind) CustomResourceType {
	if d := s.crds.ofKind(kind.GroupKind()); d != nil {
		return d.resource(kind.Version)
	}
	return CustomResourceType{GroupVersionKind: kind}
}

// Same reports whether looking up the custom resource again would find the same state.
func (s *Resolver) Same(seen CustomResourceType) bool {
	if seen.CRD == "" {
		return s.Find(seen.GroupVersionKind) == seen
	}
	d := s.crds.named(seen.CRD)
	if d == nil {
		return !seen.Exists()
	}
	return d.resource(seen.Version) == seen
}

// CRD returns the CustomResourceDefinition of a name, or nil, without a lock. It is shared, must
// not be changed, and lacks what CompactCRD removes if that is the transformation of the informer.
func (s *Resolver) CRD(name string) *apiextensionsv1.CustomResourceDefinition {
	crd, _ := s.crds.followed.Load(name)
	found, _ := crd.(*apiextensionsv1.CustomResourceDefinition)
	return found
}

// CRDVersion returns the resourceVersion of the cached CustomResourceDefinition with the
// given name, established or not, or "" if there is none.
func (s *Resolver) CRDVersion(name string) string { return s.crds.version(name) }

// Deleted reports whether the resolver has seen the deletion of the CustomResourceDefinition with
// the given UID. A CustomResourceDefinition of the same name may exist again.
func (s *Resolver) Deleted(uid types.UID) bool {
	_, deleted := s.crds.deleted.Get(uid)
	return deleted
}

// A CustomResourceType is the result of looking up a custom resource by its kind or by its resource
// name.
type CustomResourceType struct {
	// GroupVersionKind has no kind if a resource was looked up and not found.
	schema.GroupVersionKind
	// CRD is the name of the CustomResourceDefinition. The lookup of a resource always sets it,
	// because the resource determines the name. It is empty if a kind was looked up and not found.
	CRD string
	// UID and Generation are those of the CustomResourceDefinition, or "" and 0 if no
	// CustomResourceDefinition is established.
	UID        types.UID
	Generation int64
}

// Exists reports whether an established CustomResourceDefinition exists. It may not serve the
// version.
func (r CustomResourceType) Exists() bool { return r.UID != "" }

func compare(a, b CustomResourceType) int {
	return cmp.Or(
		cmp.Compare(a.Group, b.Group),
		cmp.Compare(a.Version, b.Version),
		cmp.Compare(a.Kind, b.Kind),
		cmp.Compare(a.CRD, b.CRD))
}
