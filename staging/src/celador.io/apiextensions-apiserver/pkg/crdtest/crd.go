// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package crdtest builds CustomResourceDefinitions and storage options for tests.
package crdtest

import (
	"fmt"

	"k8s.io/apiextensions-apiserver/pkg/apihelpers"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// New returns an established CustomResourceDefinition of the kind Widget in group example.com with
// the given versions, namespaced and without conversion, as the API server and its controllers
// leave it. It has generation 1 and a UID that derives from the resource name "widgets".
func New(versions ...apiextensionsv1.CustomResourceDefinitionVersion) *apiextensionsv1.CustomResourceDefinition {
	names := apiextensionsv1.CustomResourceDefinitionNames{Plural: "widgets", Singular: "widget", Kind: "Widget", ListKind: "WidgetList"}
	crd := &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: "widgets.example.com", UID: types.UID("widgets-1"), Generation: 1},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: "example.com", Scope: apiextensionsv1.NamespaceScoped, Names: names, Versions: versions,
			Conversion: &apiextensionsv1.CustomResourceConversion{Strategy: apiextensionsv1.NoneConverter},
		},
		Status: apiextensionsv1.CustomResourceDefinitionStatus{AcceptedNames: names},
	}
	for _, condition := range []apiextensionsv1.CustomResourceDefinitionConditionType{apiextensionsv1.NamesAccepted, apiextensionsv1.Established} {
		apihelpers.SetCRDCondition(crd, apiextensionsv1.CustomResourceDefinitionCondition{Type: condition, Status: apiextensionsv1.ConditionTrue})
	}
	return crd
}

// Version returns a served version whose spec has the given properties, which may be nil. It is not
// the storage version; Stored makes it one.
func Version(name string, spec map[string]apiextensionsv1.JSONSchemaProps) apiextensionsv1.CustomResourceDefinitionVersion {
	return apiextensionsv1.CustomResourceDefinitionVersion{
		Name: name, Served: true,
		Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{
			Type: "object",
			Properties: map[string]apiextensionsv1.JSONSchemaProps{
				"spec":   {Type: "object", Properties: spec},
				"status": {Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{"replicas": {Type: "integer"}}},
			},
		}},
	}
}

// Stored returns the version as the storage version.
func Stored(v apiextensionsv1.CustomResourceDefinitionVersion) apiextensionsv1.CustomResourceDefinitionVersion {
	v.Storage = true
	return v
}

// WithSubresources returns the version with the status and scale subresources.
func WithSubresources(v apiextensionsv1.CustomResourceDefinitionVersion) apiextensionsv1.CustomResourceDefinitionVersion {
	v.Subresources = &apiextensionsv1.CustomResourceSubresources{
		Status: &apiextensionsv1.CustomResourceSubresourceStatus{},
		Scale:  &apiextensionsv1.CustomResourceSubresourceScale{SpecReplicasPath: ".spec.replicas", StatusReplicasPath: ".status.replicas"},
	}
	return v
}

// Updated returns a copy of the CustomResourceDefinition after an update of its spec by the
// function, with the next generation.
func Updated(crd *apiextensionsv1.CustomResourceDefinition, update func(*apiextensionsv1.CustomResourceDefinitionSpec)) *apiextensionsv1.CustomResourceDefinition {
	crd = crd.DeepCopy()
	crd.Generation++
	crd.ResourceVersion = fmt.Sprint(crd.Generation)
	update(&crd.Spec)
	return crd
}
