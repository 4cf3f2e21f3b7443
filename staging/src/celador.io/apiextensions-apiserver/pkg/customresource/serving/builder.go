// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package serving

import (
	"context"
	"fmt"

	"k8s.io/apiextensions-apiserver/pkg/apihelpers"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/conversion"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/apiserver/pkg/registry/generic"
	utilfeature "k8s.io/apiserver/pkg/util/feature"

	"celador.io/admission/cel/schemaexpression"
	"celador.io/apiextensions-apiserver/pkg/apis/apiextensions"
	"celador.io/apiextensions-apiserver/pkg/customresource/codecs"
	"celador.io/apiextensions-apiserver/pkg/customresource/schemas"
	"celador.io/apiextensions-apiserver/pkg/customresource/versionedstorage"
	"celador.io/apiextensions-apiserver/pkg/features"
)

// Builder builds ServedResources. It is safe for concurrent use if its fields are not changed.
type Builder struct {
	// RESTOptions provides options with a codec of unstructured objects.
	RESTOptions generic.RESTOptionsGetter
	// Converters makes the converters of Kubernetes' conversion strategies.
	Converters *conversion.CRConverterFactory
	// Authorizer authorizes creation by update and by patch.
	Authorizer authorizer.UnconditionalAuthorizer
	// MaxRequestBodyBytes limits the bodies of requests. 0 means no limit.
	MaxRequestBodyBytes int64
	// Tracer gets the evaluations of the validation rules of served versions. Optional.
	Tracer schemaexpression.Tracer
	// SeparateStorages gives each version a storage of its own even with conversion rules. Without
	// it, versions with conversion rules share one storage, and so one watch cache. Set it where
	// RESTOptions makes no watch caches.
	SeparateStorages bool
	// Unreadable is called with the numbers of objects of a CustomResourceDefinition that do not
	// convert, by version: once when they are known, and whenever they may have changed while its
	// ServedResource exists. It is not called for conversion rules whose feature gate is off.
	// Optional.
	Unreadable func(crd *apiextensionsv1.CustomResourceDefinition, counts map[string]int)
}

// Build returns a ServedResource that serves the CustomResourceDefinition. The caller must destroy
// it. The strategy ConversionRules may appear in crd, although Kubernetes does not know it;
// expressions holds its converters. It is nil if the CustomResourceDefinition has only fields of
// Kubernetes. Build returns an error if names have not been accepted, a schema is invalid, the
// conversion strategy is unknown or the storage cannot be set up. The ServedResource keeps
// references to crd and expressions, which must not be changed.
func (b *Builder) Build(ctx context.Context, crd *apiextensionsv1.CustomResourceDefinition, expressions *apiextensions.ExpressionFields) (*ServedResource, error) {
	build, err := b.newBuild(ctx, crd, expressions)
	if err != nil {
		return nil, err
	}
	resource := &ServedResource{expressions: expressions, versions: map[string]*VersionEndpoints{}, types: build.types, requests: newLeases(), outdated: make(chan struct{})}
	resource.crd.Store(crd)
	if err := build.addVersions(resource); err != nil {
		resource.Destroy()
		return nil, err
	}
	b.countUnreadable(resource, crd, &build.converters)
	return resource, nil
}

// countUnreadable starts counting the objects that do not convert, and reports the numbers to
// b.Unreadable. Without conversion rules it reports that there are none. While the feature gate of
// conversion rules is off, nothing converts, and it reports nothing.
func (b *Builder) countUnreadable(resource *ServedResource, crd *apiextensionsv1.CustomResourceDefinition, c *converters) {
	switch {
	case b.Unreadable == nil:
	case c.rules == nil:
		b.Unreadable(crd, nil)
	case c.checked != nil:
		ctx, cancel := context.WithCancel(context.Background())
		resource.stopCounting = cancel
		go (&unreadableCounter{resource: resource, crd: crd, converter: c.rules, report: b.Unreadable}).run(ctx)
	}
}

// build holds the converters, schemas and names that the versions of a CustomResourceDefinition
// share, while Build runs.
type build struct {
	*Builder
	crd         *apiextensionsv1.CustomResourceDefinition
	schemas     *schemas.Schemas
	stored      schema.GroupVersion
	converters  converters
	types       managedfields.TypeConverter
	equivalents runtime.EquivalentResourceMapper
	replicas    managedfields.ResourcePathMappings
	// shared wraps the storage of ServedResource.asStored, which holds the objects in the versions
	// in which they are stored. The VersionStorage of each version reads shared and converts its
	// objects. Nil unless there are conversion rules.
	shared *versionedstorage.SharedStorage
}

func (b *Builder) newBuild(ctx context.Context, crd *apiextensionsv1.CustomResourceDefinition, expressions *apiextensions.ExpressionFields) (*build, error) {
	if err := checkNames(&crd.Status.AcceptedNames); err != nil {
		return nil, err
	}
	stored, err := apihelpers.GetCRDStorageVersion(crd)
	if err != nil {
		return nil, err
	}
	out := &build{
		Builder: b, crd: crd,
		stored:      schema.GroupVersion{Group: crd.Spec.Group, Version: stored},
		equivalents: equivalents(crd),
		replicas:    replicasPaths(crd),
	}
	if out.schemas, err = schemas.New(crd, defaultRules(expressions)); err != nil {
		return nil, err
	}
	if out.types, err = typeConverter(ctx, crd); err != nil {
		return nil, err
	}
	out.converters, err = b.converters(crd, expressions, out.schemas)
	return out, err
}

// defaultRules returns the default rules to evaluate, by version. While the gate is off, stored
// rules set nothing.
func defaultRules(expressions *apiextensions.ExpressionFields) map[string]apiextensions.SchemaDefaults {
	if !expressions.HasDefaults() || !utilfeature.DefaultFeatureGate.Enabled(features.CustomResourceDefaultExpressions) {
		return nil
	}
	return expressions.Defaults
}

// checkNames returns an error if a name has not been accepted. The naming controller accepts all
// names at once, so only a client that writes the status can cause the error.
func checkNames(names *apiextensionsv1.CustomResourceDefinitionNames) error {
	for field, name := range map[string]string{"plural": names.Plural, "singular": names.Singular, "kind": names.Kind, "listKind": names.ListKind} {
		if name == "" {
			return fmt.Errorf("status.acceptedNames.%s is empty", field)
		}
	}
	return nil
}

func (b *build) addVersions(resource *ServedResource) error {
	if b.converters.rules != nil && !b.SeparateStorages {
		if err := b.openShared(resource); err != nil {
			return err
		}
	}
	for i := range b.crd.Spec.Versions {
		v := &b.crd.Spec.Versions[i]
		if !v.Served && !v.Storage {
			continue
		}
		version := &VersionEndpoints{Served: v.Served, Deprecated: v.Deprecated, DeprecationWarning: deprecationWarning(&b.crd.Spec, v)}
		resource.versions[v.Name] = version
		options := codecs.NewOptionsScheme(b.gv(v.Name))
		typer := codecs.NewTyper(options)
		if err := b.addStorage(version, i, typer, resource.asStored); err != nil {
			return fmt.Errorf("version %s: %w", v.Name, err)
		}
		if err := b.addScopes(version, v, options, typer); err != nil {
			return fmt.Errorf("version %s: %w", v.Name, err)
		}
		if v.Storage {
			resource.stored = version
		}
	}
	return b.addStatusScopes(resource.versions)
}

func (b *build) gv(version string) schema.GroupVersion {
	return schema.GroupVersion{Group: b.crd.Spec.Group, Version: version}
}
