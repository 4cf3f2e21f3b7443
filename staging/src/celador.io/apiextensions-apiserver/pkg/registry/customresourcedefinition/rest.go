// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package customresourcedefinition stores CustomResourceDefinitions with Kubernetes' strategies,
// validation and tables.
package customresourcedefinition

import (
	upstream "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	upstreamregistry "k8s.io/apiextensions-apiserver/pkg/registry/customresourcedefinition"
	upstreamtable "k8s.io/apiextensions-apiserver/pkg/registry/customresourcedefinition/tableconvertor"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/registry/generic"
	genericregistry "k8s.io/apiserver/pkg/registry/generic/registry"
	"k8s.io/apiserver/pkg/registry/rest"

	"celador.io/apiextensions-apiserver/pkg/apis/apiextensions"
)

var (
	resource         = upstream.Resource("customresourcedefinitions")
	singularResource = upstream.Resource("customresourcedefinition")
)

// REST is the storage of CustomResourceDefinitions. It is safe for concurrent use.
type REST struct {
	*genericregistry.Store
}

var (
	_ rest.StandardStorage    = &REST{}
	_ rest.ShortNamesProvider = &REST{}
	_ rest.CategoriesProvider = &REST{}
)

// NewREST returns the storage of CustomResourceDefinitions. typer must know the internal version of
// celador.io/apiextensions-apiserver, as scheme.Scheme does. The codecs of the options are
// Kubernetes', for Kubernetes' internal version: CustomResourceDefinitions with only fields of
// Kubernetes are stored as they encode them, and others as JSON of v1. Call Destroy to release the
// storage.
func NewREST(typer runtime.ObjectTyper, options generic.RESTOptionsGetter) (*REST, error) {
	ownOptions, err := restOptions(options)
	if err != nil {
		return nil, err
	}
	strategy := strategy{upstreamregistry.NewStrategy(typer)}
	store := &genericregistry.Store{
		DefaultQualifiedResource:  resource,
		SingularQualifiedResource: singularResource,
		NewFunc:                   func() runtime.Object { return &apiextensions.CustomResourceDefinition{} },
		NewListFunc:               func() runtime.Object { return &apiextensions.CustomResourceDefinitionList{} },
		CreateStrategy:            strategy,
		UpdateStrategy:            strategy,
		ResetFieldsStrategy:       strategy,
		DeleteStrategy:            strategy,
		TableConvertor:            tableConvertor{upstreamtable.New()},
	}
	if err := store.CompleteWithOptions(&generic.StoreOptions{RESTOptions: ownOptions}); err != nil {
		return nil, err
	}
	return &REST{store}, nil
}

// ShortNames implements rest.ShortNamesProvider.
func (r *REST) ShortNames() []string { return []string{"crd", "crds"} }

// Categories implements rest.CategoriesProvider.
func (r *REST) Categories() []string { return []string{"api-extensions"} }
