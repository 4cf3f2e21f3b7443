// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package servedtypes

import (
	"context"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apiserver/pkg/cel/openapi/resolver"
	"k8s.io/kube-openapi/pkg/validation/spec"

	"celador.io/admission/typecheck"
)

// A TypeFinder finds types for one check of a policy. It looks up each custom resource once, so
// that all answers are based on one state of it, and records that state. It is not safe for
// concurrent use.
type TypeFinder struct {
	resolver *Resolver
	// ctx bounds the lookups of schemas.
	ctx context.Context
	// builtIn returns the resources of a built-in group version, and nil for others. aggregated
	// returns those of a group version that an aggregated server serves.
	builtIn, aggregated func(schema.GroupVersion) (resources, error)

	// crds caches CustomResourceDefinitions by name, nil if not found.
	crds map[string]*establishedCRD
	seen sets.Set[CustomResourceType]
	// seenAggregated is set once a type of an aggregated server was looked up.
	seenAggregated bool
}

var _ typecheck.Types = &TypeFinder{}

// Seen returns the custom resources that were looked up, sorted by group, version and kind.
func (v *TypeFinder) Seen() []CustomResourceType {
	return slices.SortedFunc(slices.Values(v.seen.UnsortedList()), compare)
}

// Aggregated reports whether types of aggregated servers were looked up. These may change without
// a change of the custom resources in Seen.
func (v *TypeFinder) Aggregated() bool { return v.seenAggregated }

// KindsFor implements typecheck.Types. It returns the one kind of a resource, or a
// meta.NoResourceMatchError. Other errors mean that discovery failed.
func (v *TypeFinder) KindsFor(resource schema.GroupVersionResource) ([]schema.GroupVersionKind, error) {
	served, err := v.discovered(resource.GroupVersion())
	if err != nil {
		return nil, err
	}
	if kind, ok := served[resource.Resource]; ok {
		return []schema.GroupVersionKind{resource.GroupVersion().WithKind(kind)}, nil
	}
	name := resource.GroupResource().String()
	if d := v.named(name); d != nil {
		custom := d.resource(resource.Version)
		v.seen.Insert(custom)
		if d.serves(resource.Version) {
			return []schema.GroupVersionKind{custom.GroupVersionKind}, nil
		}
	} else if resource.Group != "" {
		v.seen.Insert(CustomResourceType{
			GroupVersionKind: schema.GroupVersionKind{Group: resource.Group, Version: resource.Version},
			CRD:              name,
		})
	}
	return nil, &meta.NoResourceMatchError{PartialResource: resource}
}

// RESTMapping implements typecheck.Types. It returns the resource of a kind in the first of the
// versions, without its scope, or a meta.NoKindMatchError. Other errors mean that discovery
// failed.
func (v *TypeFinder) RESTMapping(kind schema.GroupKind, versions ...string) (*meta.RESTMapping, error) {
	if len(versions) == 0 {
		return nil, &meta.NoKindMatchError{GroupKind: kind}
	}
	full := kind.WithVersion(versions[0])
	served, err := v.discovered(full.GroupVersion())
	if err != nil {
		return nil, err
	}
	if resource, ok := served.ofKind(kind.Kind); ok {
		return &meta.RESTMapping{Resource: full.GroupVersion().WithResource(resource), GroupVersionKind: full}, nil
	}
	if d := v.ofKind(full); d != nil && d.serves(full.Version) {
		return &meta.RESTMapping{Resource: full.GroupVersion().WithResource(d.Spec.Names.Plural), GroupVersionKind: full}, nil
	}
	return nil, &meta.NoKindMatchError{GroupKind: kind, SearchedVersions: versions}
}

// ResolveSchema implements typecheck.Types. It returns the schema of a kind, which must not be
// changed. The error wraps resolver.ErrSchemaNotFound if the kind is not served or has no schema.
// Other errors mean that discovery failed.
func (v *TypeFinder) ResolveSchema(kind schema.GroupVersionKind) (*spec.Schema, error) {
	builtIn, err := v.builtIn(kind.GroupVersion())
	if err != nil {
		return nil, err
	}
	if _, ok := builtIn.ofKind(kind.Kind); ok {
		return v.resolver.builtIn.schema(v.ctx, kind)
	}
	if v.resolver.aggregated.has(kind.GroupVersion()) {
		v.seenAggregated = true
		if _, err := v.aggregated(kind.GroupVersion()); err != nil {
			return nil, err
		}
		return v.resolver.aggregated.schema(v.ctx, kind)
	}
	if d := v.ofKind(kind); d != nil {
		if s, err := d.schema(v.ctx, kind.Version); s != nil || err != nil {
			return s, err
		}
	}
	return nil, fmt.Errorf("%v: %w", kind, resolver.ErrSchemaNotFound)
}

// discovered returns the resources of a group version that is built in or aggregated, and nil for
// any other.
func (v *TypeFinder) discovered(version schema.GroupVersion) (resources, error) {
	if v.resolver.builtIn.has(version) {
		return v.builtIn(version)
	}
	if v.resolver.aggregated.has(version) {
		v.seenAggregated = true
		return v.aggregated(version)
	}
	return nil, nil
}

// named returns the established CustomResourceDefinition with the given name, or nil if there is
// none.
func (v *TypeFinder) named(name string) *establishedCRD {
	d, known := v.crds[name]
	if !known {
		d = v.resolver.crds.named(name)
		v.crds[name] = d
	}
	return d
}

// ofKind returns the established CustomResourceDefinition of the kind, or nil if there is none.
func (v *TypeFinder) ofKind(kind schema.GroupVersionKind) *establishedCRD {
	for _, d := range v.crds {
		if d != nil && d.Spec.Group == kind.Group && d.Status.AcceptedNames.Kind == kind.Kind {
			v.seen.Insert(d.resource(kind.Version))
			return d
		}
	}
	d := v.resolver.crds.ofKind(kind.GroupKind())
	if d != nil {
		v.crds[d.Name] = d
		v.seen.Insert(d.resource(kind.Version))
	} else if kind.Group != "" {
		v.seen.Insert(CustomResourceType{GroupVersionKind: kind})
	}
	return d
}
