// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package serving

import (
	"context"

	"k8s.io/apiextensions-apiserver/pkg/controller/finalizer"
	metainternalversion "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/registry/generic"
	"k8s.io/apiserver/pkg/registry/rest"

	"celador.io/apiextensions-apiserver/pkg/customresource/codecs"
	"celador.io/apiextensions-apiserver/pkg/registry/customresource"
)

// Deleter returns the storage with which the objects of a deleted CustomResourceDefinition are deleted. Objects that conversion
// rules do not convert are deleted, too.
func (r *Resource) Deleter() finalizer.ListerCollectionDeleter {
	if r.tolerant != nil {
		return deleter{r.stored.Storage.CustomResource, *r.tolerant}
	}
	return r.stored.Storage.CustomResource
}

// deleter lists and deletes objects with a storage that is open for one call only.
type deleter struct {
	finalizer.ListerCollectionDeleter
	config customresource.Config
}

// List implements rest.Lister.
func (d deleter) List(ctx context.Context, options *metainternalversion.ListOptions) (runtime.Object, error) {
	storage, err := customresource.NewStorage(&d.config)
	if err != nil {
		return nil, err
	}
	defer storage.CustomResource.Destroy()
	return storage.CustomResource.List(ctx, options)
}

// DeleteCollection implements rest.CollectionDeleter.
func (d deleter) DeleteCollection(ctx context.Context, validate rest.ValidateObjectFunc, options *metav1.DeleteOptions, selection *metainternalversion.ListOptions) (runtime.Object, error) {
	storage, err := customresource.NewStorage(&d.config)
	if err != nil {
		return nil, err
	}
	defer storage.CustomResource.Destroy()
	return storage.CustomResource.DeleteCollection(ctx, validate, options, selection)
}

// tolerantConfig returns the configuration of a storage that leaves objects in the version in which they are stored if
// they cannot be converted. It has no cache.
func tolerantConfig(config customresource.Config, options codecs.Storage) *customresource.Config {
	options.RESTOptionsGetter = undecorated{options.RESTOptionsGetter}
	options.Encoding, options.Decoding = tolerantConverter{options.Encoding}, tolerantConverter{options.Encoding}
	config.RESTOptions = options
	return &config
}

type undecorated struct{ generic.RESTOptionsGetter }

func (u undecorated) GetRESTOptions(resource schema.GroupResource, example runtime.Object) (generic.RESTOptions, error) {
	options, err := u.RESTOptionsGetter.GetRESTOptions(resource, example)
	options.Decorator = generic.UndecoratedStorage
	return options, err
}

// tolerantConverter returns a copy of an object that it cannot convert.
type tolerantConverter struct{ runtime.ObjectConvertor }

// Convert implements runtime.ObjectConvertor.
func (c tolerantConverter) Convert(in, out, context any) error {
	err := c.ObjectConvertor.Convert(in, out, context)
	from, fromOK := in.(*unstructured.Unstructured)
	to, toOK := out.(*unstructured.Unstructured)
	if err != nil && fromOK && toOK {
		to.SetUnstructuredContent(from.DeepCopy().UnstructuredContent())
		return nil
	}
	return err
}

// ConvertToVersion implements runtime.ObjectConvertor.
func (c tolerantConverter) ConvertToVersion(in runtime.Object, target runtime.GroupVersioner) (runtime.Object, error) {
	out, err := c.ObjectConvertor.ConvertToVersion(in, target)
	if u, ok := in.(*unstructured.Unstructured); ok && err != nil {
		return u.DeepCopy(), nil
	}
	return out, err
}
