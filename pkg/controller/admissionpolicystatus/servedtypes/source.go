// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package servedtypes knows the types that a server serves: built-in ones, custom
// resources and those of aggregated servers.
package servedtypes

import (
	"context"
	"fmt"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiextensionsinformers "k8s.io/apiextensions-apiserver/pkg/client/informers/externalversions/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apiserver/pkg/cel/openapi/resolver"
	"k8s.io/client-go/discovery"
)

// Config says where to learn about types. All of it is safe for concurrent use.
type Config struct {
	// Discovery asks the server itself, custom resources and aggregated servers included.
	Discovery discovery.DiscoveryInterface
	// BuiltIn tells whether a group version is compiled into the server. What is served
	// of it does not change while the server runs.
	BuiltIn func(schema.GroupVersion) bool
	// Schemas has the schemas of built-in types.
	Schemas resolver.SchemaResolver
	// Aggregated tells whether a group version is at present served by another server.
	Aggregated func(schema.GroupVersion) bool
	// Definitions has the custom resources. Nil when the server has none.
	Definitions apiextensionsinformers.CustomResourceDefinitionInformer
}

// Source answers from what is known at the moment. Safe for concurrent use.
type Source struct {
	builtIn     *builtIn
	aggregated  aggregated
	definitions *definitions
}

// New returns a source that calls changed with every custom resource definition that
// appears, changes in what is served or goes, once it knows of that. It must be called before
// the informer starts. The error is one of an informer that is used already.
func New(c Config, changed func(*apiextensionsv1.CustomResourceDefinition)) (*Source, error) {
	builtIn := newBuiltIn(c)
	known, err := newDefinitions(c.Definitions, builtIn.objectMeta, changed)
	if err != nil {
		return nil, fmt.Errorf("following custom resource definitions: %w", err)
	}
	return &Source{builtIn, aggregated{c.Aggregated, c.Discovery}, known}, nil
}

// HasSynced tells whether the source knows all definitions that existed when the informer
// started.
func (s *Source) HasSynced() bool { return s.definitions.synced() }

// View returns a view that works until ctx ends.
func (s *Source) View(ctx context.Context) *View {
	return &View{DefaultRESTMapper: none, ctx: ctx, source: s, definitions: map[string]*definition{}, seen: sets.New[CustomResource]()}
}

// none implements what nobody asks of a view.
var none = meta.NewDefaultRESTMapper(nil)

// Find looks for a custom resource of a kind.
func (s *Source) Find(kind schema.GroupVersionKind) CustomResource {
	if d := s.definitions.ofKind(kind.GroupKind()); d != nil {
		return d.resource(kind.Version)
	}
	return CustomResource{GroupVersionKind: kind}
}

// Same tells whether looking for a custom resource again finds it in the same state.
func (s *Source) Same(seen CustomResource) bool {
	if seen.Definition == "" {
		return s.Find(seen.GroupVersionKind) == seen
	}
	d := s.definitions.named(seen.Definition)
	if d == nil {
		return !seen.Exists()
	}
	return d.resource(seen.Version) == seen
}

// DefinitionVersion returns the resourceVersion of a custom resource definition that is
// known, in use or not, and nothing if there is none.
func (s *Source) DefinitionVersion(name string) string { return s.definitions.version(name) }

// Gone tells whether the definition with that UID is known to be deleted. There may be
// another one of that name.
func (s *Source) Gone(uid types.UID) bool {
	_, gone := s.definitions.gone.Get(uid)
	return gone
}
