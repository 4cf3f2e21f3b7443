// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package servedtypes

import (
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiextensionsinformers "k8s.io/apiextensions-apiserver/pkg/client/informers/externalversions/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/cel/openapi/resolver"
	"k8s.io/client-go/discovery"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	apiregistrationlisters "k8s.io/kube-aggregator/pkg/client/listers/apiregistration/v1"
	"k8s.io/kube-openapi/pkg/validation/spec"

	"celador.io/admission/modelschema"
)

// OfCluster returns the sources of types of a host outside of the API server: discovery and OpenAPI
// v3 for built-in and aggregated types, and CustomResourceDefinitions. A group version without
// OpenAPI v3 has no schemas, which affects the policies that name it and no others.
//
// The schemas of built-in types are kept without their descriptions, once a policy names them,
// until the process ends.
func OfCluster(client discovery.DiscoveryInterface, services apiregistrationlisters.APIServiceLister, crds apiextensionsinformers.CustomResourceDefinitionInformer) Config {
	has := func(kind func(*apiregistrationv1.APIService) bool) func(schema.GroupVersion) bool {
		return func(version schema.GroupVersion) bool {
			service, err := services.Get(version.Version + "." + version.Group)
			return err == nil && kind(service)
		}
	}
	return Config{
		Discovery:  client,
		BuiltIn:    has(isBuiltIn),
		Aggregated: has(isAggregated),
		Schemas:    undescribed{documents{client}},
		CRDs:       crds,
	}
}

// undescribed drops the descriptions of schemas, which type checks do not read. They are most of a
// schema's text.
type undescribed struct{ resolver.SchemaResolver }

// ResolveSchema implements resolver.SchemaResolver.
func (u undescribed) ResolveSchema(kind schema.GroupVersionKind) (*spec.Schema, error) {
	found, err := u.SchemaResolver.ResolveSchema(kind)
	if err != nil {
		return nil, err
	}
	modelschema.DropDescriptions(found)
	return found, nil
}

// CompactCRD removes from a CustomResourceDefinition what type checks do not read, descriptions and
// rules above all. It is a cache.TransformFunc.
func CompactCRD(object any) (any, error) {
	crd, ok := object.(*apiextensionsv1.CustomResourceDefinition)
	if !ok {
		return object, nil
	}
	crd.ManagedFields, crd.Annotations = nil, nil
	for i := range crd.Spec.Versions {
		if v := crd.Spec.Versions[i].Schema; v != nil && v.OpenAPIV3Schema != nil {
			*v.OpenAPIV3Schema = compactSchema(v.OpenAPIV3Schema)
		}
	}
	return crd, nil
}

// compactSchema returns what schemas.ForTypeChecks reads.
func compactSchema(s *apiextensionsv1.JSONSchemaProps) apiextensionsv1.JSONSchemaProps {
	for name, property := range s.Properties {
		s.Properties[name] = compactSchema(&property)
	}
	if s.Items != nil && s.Items.Schema != nil {
		*s.Items.Schema = compactSchema(s.Items.Schema)
	}
	if s.AdditionalProperties != nil && s.AdditionalProperties.Schema != nil {
		*s.AdditionalProperties.Schema = compactSchema(s.AdditionalProperties.Schema)
	}
	return apiextensionsv1.JSONSchemaProps{
		Type: s.Type, Format: s.Format, Nullable: s.Nullable,
		Properties: s.Properties, Items: s.Items, AdditionalProperties: s.AdditionalProperties,
		XListType: s.XListType, XListMapKeys: s.XListMapKeys,
		XIntOrString: s.XIntOrString, XPreserveUnknownFields: s.XPreserveUnknownFields, XEmbeddedResource: s.XEmbeddedResource,
	}
}
