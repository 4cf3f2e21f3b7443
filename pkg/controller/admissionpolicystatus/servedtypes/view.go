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
)

// View is what one check of a policy looks at. It implements resolver.SchemaResolver and,
// of meta.RESTMapper, KindsFor and RESTMapping. It remembers in which states it saw custom
// resources, and stays with the first state of each. Not safe for concurrent use.
type View struct {
	*meta.DefaultRESTMapper
	ctx    context.Context
	source *Source

	// definitions are those looked at, by name, nil for those that do not exist.
	definitions map[string]*definition
	seen        sets.Set[CustomResource]
	transient   bool
}

var (
	_ meta.RESTMapper         = &View{}
	_ resolver.SchemaResolver = &View{}
)

// Seen returns the custom resources that were looked for, sorted by group, version and
// kind.
func (v *View) Seen() []CustomResource {
	return slices.SortedFunc(slices.Values(v.seen.UnsortedList()), compare)
}

// Transient tells whether anything may be different now although the custom resources are
// as they were: some types were looked for at other servers.
func (v *View) Transient() bool { return v.transient }

// KindsFor returns the one kind of a resource, or a meta.NoResourceMatchError. Other
// errors say why it cannot be told.
func (v *View) KindsFor(resource schema.GroupVersionResource) ([]schema.GroupVersionKind, error) {
	served, err := v.elsewhere(resource.GroupVersion())
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
		v.seen.Insert(CustomResource{
			GroupVersionKind: schema.GroupVersionKind{Group: resource.Group, Version: resource.Version},
			Definition:       name,
		})
	}
	return nil, &meta.NoResourceMatchError{PartialResource: resource}
}

// RESTMapping returns the resource of a kind in the first of the versions, or a
// meta.NoKindMatchError. Other errors say why it cannot be told. The scope is not filled in.
func (v *View) RESTMapping(kind schema.GroupKind, versions ...string) (*meta.RESTMapping, error) {
	if len(versions) == 0 {
		return nil, &meta.NoKindMatchError{GroupKind: kind}
	}
	full := kind.WithVersion(versions[0])
	served, err := v.elsewhere(full.GroupVersion())
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

// ResolveSchema returns the schema of a kind that is served, which must not be changed.
// Errors wrap resolver.ErrSchemaNotFound if there is none, and otherwise say why it cannot
// be told.
func (v *View) ResolveSchema(kind schema.GroupVersionKind) (*spec.Schema, error) {
	builtIn, err := v.source.builtIn.resources(v.ctx, kind.GroupVersion())
	if err != nil {
		return nil, err
	}
	if _, ok := builtIn.ofKind(kind.Kind); ok {
		return v.source.builtIn.schema(kind)
	}
	if v.source.aggregated.has(kind.GroupVersion()) {
		v.transient = true
		return v.source.aggregated.schema(kind)
	}
	if d := v.ofKind(kind); d != nil {
		if s := d.schema(kind.Version); s != nil {
			return s, nil
		}
	}
	return nil, fmt.Errorf("%v: %w", kind, resolver.ErrSchemaNotFound)
}

// elsewhere returns the resources of a group version that are not custom resources.
func (v *View) elsewhere(version schema.GroupVersion) (resources, error) {
	if v.source.builtIn.has(version) {
		return v.source.builtIn.resources(v.ctx, version)
	}
	if v.source.aggregated.has(version) {
		v.transient = true
		return v.source.aggregated.resources(v.ctx, version)
	}
	return nil, nil
}

// named returns nil when there is no definition of that name.
func (v *View) named(name string) *definition {
	d, known := v.definitions[name]
	if !known {
		d = v.source.definitions.named(name)
		v.definitions[name] = d
	}
	return d
}

// ofKind returns nil when there is no definition of that kind.
func (v *View) ofKind(kind schema.GroupVersionKind) *definition {
	for _, d := range v.definitions {
		if d != nil && d.Spec.Group == kind.Group && d.Status.AcceptedNames.Kind == kind.Kind {
			v.seen.Insert(d.resource(kind.Version))
			return d
		}
	}
	d := v.source.definitions.ofKind(kind.GroupKind())
	if d != nil {
		v.definitions[d.Name] = d
		v.seen.Insert(d.resource(kind.Version))
	} else if kind.Group != "" {
		v.seen.Insert(CustomResource{GroupVersionKind: kind})
	}
	return d
}
