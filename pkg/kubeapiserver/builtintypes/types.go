// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package builtintypes

import (
	"sync"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apiserver/pkg/cel/openapi/resolver"
	kubescheme "k8s.io/client-go/kubernetes/scheme"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	"k8s.io/kube-openapi/pkg/validation/spec"

	"celador.io/celador/pkg/generated/openapi"
)

// Scheme returns the types of all built-in groups in all of their versions, whether or not
// the server serves them. It must not be changed. Safe for concurrent use.
var Scheme = sync.OnceValue(func() *runtime.Scheme {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{kubescheme.AddToScheme, apiextensionsv1.AddToScheme, apiregistrationv1.AddToScheme} {
		utilruntime.Must(add(scheme))
	}
	return scheme
})

// Schemas has the schemas of those types, Celador's own among them. It makes each anew
// whenever it is asked, and takes 6 MB of memory from the first time on. Safe for concurrent
// use.
var Schemas resolver.SchemaResolver = onDemand(sync.OnceValue(func() resolver.SchemaResolver {
	return resolver.NewDefinitionsSchemaResolver(openapi.GetMergedOpenAPIDefinitions, Scheme())
}))

// onDemand makes a resolver when it is first asked.
type onDemand func() resolver.SchemaResolver

// ResolveSchema implements resolver.SchemaResolver.
func (resolve onDemand) ResolveSchema(kind schema.GroupVersionKind) (*spec.Schema, error) {
	return resolve().ResolveSchema(kind)
}

// newMapper returns a mapper of all resources that those types may have. Built-in resources
// are named after their kinds by rule.
func newMapper() meta.RESTMapper {
	mapper := meta.NewDefaultRESTMapper(nil)
	for kind := range Scheme().AllKnownTypes() {
		if kind.Version != runtime.APIVersionInternal {
			mapper.Add(kind, meta.RESTScopeRoot) // nobody asks for the scope
		}
	}
	return mapper
}
