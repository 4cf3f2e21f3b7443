// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package builtintypes provides the types that are compiled into the server, and their schemas. It
// sends no requests and does not know custom resources.
package builtintypes

import (
	"fmt"
	"sync"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apiserver/pkg/cel/openapi/resolver"
	apiserveropenapi "k8s.io/apiserver/pkg/endpoints/openapi"
	kubescheme "k8s.io/client-go/kubernetes/scheme"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	"k8s.io/kube-openapi/pkg/common"
	"k8s.io/kube-openapi/pkg/validation/spec"

	"celador.io/admission/modelschema"
	"celador.io/admission/typecheck"
	"celador.io/apiserver/pkg/admission/typechecks"

	"celador.io/celador/pkg/generated/openapi"
)

// Scheme returns a scheme of all built-in groups in all versions, whether the server serves them or
// not. It must not be changed. Scheme is safe for concurrent use.
var Scheme = sync.OnceValue(func() *runtime.Scheme {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{kubescheme.AddToScheme, apiextensionsv1.AddToScheme, apiregistrationv1.AddToScheme} {
		utilruntime.Must(add(scheme))
	}
	return scheme
})

// Schemas resolves the schemas of the types in Scheme. Types that Celador extends have its fields.
// The schemas keep the names of models, by which scopes of validations find values (package
// modelschema). Each call builds a new schema. After the first call, Schemas occupies 6 MB of
// memory. It is safe for concurrent use.
var Schemas resolver.SchemaResolver = onDemand(sync.OnceValue(func() resolver.SchemaResolver {
	models := openapi.GetMergedOpenAPIDefinitions(spec.MustCreateRef)
	d := definitions{models, map[schema.GroupVersionKind]string{}}
	namer := apiserveropenapi.NewDefinitionNamer(Scheme())
	for name := range models {
		_, extensions := namer.GetDefinitionName(name)
		for _, kind := range modelschema.KindsOf(extensions) {
			d.names[kind] = name
		}
	}
	return d
}))

// definitions resolves the schemas of kinds from OpenAPI definitions that are compiled into the
// server. models holds the definitions by the names of the models, and names maps each kind to the
// name of its model.
type definitions struct {
	models map[string]common.OpenAPIDefinition
	names  map[schema.GroupVersionKind]string
}

// ResolveSchema implements resolver.SchemaResolver.
func (d definitions) ResolveSchema(kind schema.GroupVersionKind) (*spec.Schema, error) {
	name, ok := d.names[kind]
	if !ok {
		return nil, fmt.Errorf("cannot resolve %v: %w", kind, resolver.ErrSchemaNotFound)
	}
	return modelschema.Resolve(func(name string) (*spec.Schema, bool) {
		definition, ok := d.models[name]
		return &definition.Schema, ok
	}, name)
}

// onDemand is a resolver that is created by its first call.
type onDemand func() resolver.SchemaResolver

// ResolveSchema implements resolver.SchemaResolver.
func (resolve onDemand) ResolveSchema(kind schema.GroupVersionKind) (*spec.Schema, error) {
	return resolve().ResolveSchema(kind)
}

// TypeChecks checks policies that are written against the types in Scheme. It derives the names of
// resources from their kinds, which is correct for all built-in resources.
var TypeChecks = typechecks.NewValidator(sync.OnceValue(func() typecheck.Types {
	mapper := meta.NewDefaultRESTMapper(nil)
	for kind := range Scheme().AllKnownTypes() {
		if kind.Version != runtime.APIVersionInternal {
			mapper.Add(kind, meta.RESTScopeRoot) // the scope is not used
		}
	}
	return struct {
		meta.RESTMapper
		resolver.SchemaResolver
	}{mapper, Schemas}
}))
