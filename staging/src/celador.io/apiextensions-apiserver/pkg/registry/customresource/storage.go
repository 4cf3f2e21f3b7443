// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package customresource provides the storage of custom resources in one version, and of their
// status and scale subresources. It is Kubernetes' storage, with default expressions and with
// Celador's evaluation of validation rules.
package customresource

import (
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	upstream "k8s.io/apiextensions-apiserver/pkg/registry/customresource"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/apiserver/pkg/registry/generic"
	"k8s.io/apiserver/pkg/registry/rest"
	apiserverstorage "k8s.io/apiserver/pkg/storage"

	"celador.io/apiextensions-apiserver/pkg/registry/status"
)

// Config describes the custom resources of one version.
type Config struct {
	// Resource and Singular are the names of the resource, Kind and ListKind the kinds of objects
	// and lists.
	Resource, Singular schema.GroupResource
	Kind, ListKind     schema.GroupVersionKind
	Namespaced         bool
	Categories         []string

	// Schema is the structural schema, without validation rules. Nil without a schema.
	Schema *structuralschema.Structural
	// Validator checks objects against the schema, and StatusValidator their status.
	// StatusValidator is nil if the schema has no property status.
	Validator, StatusValidator validation.SchemaValidator
	// Rules evaluates the validation rules of the schema for objects that conform to the schema.
	// Nil if there are none.
	Rules Validator
	// Defaults reports errors of default expressions. Nil if the schema has none.
	Defaults Defaults
	// Conversions returns an error for each served version that a valid object does not convert to
	// once it is stored. Nil if objects always do.
	Conversions Validator

	// Status and Scale are nil without the subresource.
	Status           *apiextensions.CustomResourceSubresourceStatus
	Scale            *apiextensions.CustomResourceSubresourceScale
	ReplicasPaths    managedfields.ResourcePathMappings
	SelectableFields []apiextensionsv1.SelectableField

	Typer       runtime.ObjectTyper
	RESTOptions generic.RESTOptionsGetter
	Table       rest.TableConvertor
}

// Storages holds the storages of a version. They share one connection to etcd, which
// CustomResource.Destroy closes.
type Storages struct {
	CustomResource *upstream.REST
	// Status and Scale are nil without the subresource.
	Status *status.REST
	Scale  *upstream.ScaleREST
}

// NewStorage returns the storage of custom resources. The caller must destroy it. NewStorage
// returns an error if the connection to etcd cannot be set up.
func NewStorage(c *Config) (Storages, error) {
	kubernetes := upstream.NewStrategy(c.Typer, c.Namespaced, c.Kind, c.Validator, c.StatusValidator, c.Schema, c.Status, c.Scale, c.SelectableFields)
	inner, err := upstream.NewStorage(c.Resource, c.Singular, c.Kind, c.ListKind, kubernetes, c.RESTOptions, c.Categories, c.Table, c.ReplicasPaths)
	if err != nil {
		return Storages{}, err
	}
	validation := additional{rules: c.Rules, defaults: c.Defaults, conversions: c.Conversions, partial: c.Status != nil || c.Scale != nil}
	// The storage of the scale subresource refers to the same store, so its updates are validated
	// alike.
	store := inner.CustomResource.Store
	store.CreateStrategy = createStrategy{kubernetes, validation}
	store.UpdateStrategy = updateStrategy{kubernetes, validation}

	storage := Storages{CustomResource: inner.CustomResource, Scale: inner.Scale}
	if c.Status != nil {
		strategy := upstream.NewStatusStrategy(kubernetes)
		storage.Status = status.New(store, updateStrategy{strategy, validation}, strategy)
	}
	return storage, nil
}

// Attributes returns the function that reads the labels and fields by which requests select objects
// in a version.
func Attributes(kind schema.GroupVersionKind, namespaced bool, selectable []apiextensionsv1.SelectableField) apiserverstorage.AttrFunc {
	return upstream.NewStrategy(nil, namespaced, kind, nil, nil, nil, nil, nil, selectable).GetAttrs
}
