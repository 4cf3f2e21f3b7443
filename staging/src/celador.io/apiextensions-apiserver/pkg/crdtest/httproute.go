// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package crdtest

import (
	_ "embed"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"sigs.k8s.io/yaml"
)

var (
	//go:embed httproute-schema.yaml
	httpRouteSchema []byte
	//go:embed httproute.yaml
	httpRoute []byte
)

// HTTPRoute returns an established CustomResourceDefinition that is modelled on the Gateway API's
// HTTPRoute, as a realistic example for tests and benchmarks. Each version has the same schema,
// with 72 validation rules on 14 of its nodes. The first version is the storage version.
func HTTPRoute(versions ...string) *apiextensionsv1.CustomResourceDefinition {
	crd := New()
	names := apiextensionsv1.CustomResourceDefinitionNames{Plural: "httproutes", Singular: "httproute", Kind: "HTTPRoute", ListKind: "HTTPRouteList"}
	crd.Name, crd.UID = "httproutes.example.com", types.UID("httproutes-1")
	crd.Spec.Names, crd.Status.AcceptedNames = names, names
	for i, name := range versions {
		schema := &apiextensionsv1.JSONSchemaProps{}
		utilruntime.Must(yaml.UnmarshalStrict(httpRouteSchema, schema))
		crd.Spec.Versions = append(crd.Spec.Versions, apiextensionsv1.CustomResourceDefinitionVersion{
			Name: name, Served: true, Storage: i == 0,
			Schema:       &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: schema},
			Subresources: &apiextensionsv1.CustomResourceSubresources{Status: &apiextensionsv1.CustomResourceSubresourceStatus{}},
		})
	}
	return crd
}

// HTTPRouteObject returns a valid custom resource of HTTPRoute in a version. Most of the validation
// rules are evaluated for it: it has three rules with two matches each, and filters of five types.
func HTTPRouteObject(version string) *unstructured.Unstructured {
	object := &unstructured.Unstructured{}
	utilruntime.Must(yaml.Unmarshal(httpRoute, object))
	object.SetAPIVersion("example.com/" + version)
	return object
}
