// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package serving

import (
	"context"

	"k8s.io/apiextensions-apiserver/pkg/controller/finalizer"
	metainternalversion "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/registry/generic/registry"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/apiserver/pkg/storage"
)

// CollectionDeleter returns the storage with which the objects of a deleted
// CustomResourceDefinition are deleted. Objects that conversion rules do not convert are deleted,
// too.
func (r *ServedResource) CollectionDeleter() finalizer.ListerCollectionDeleter {
	if r.asStored != nil {
		return r.asStored
	}
	return r.stored.Storage.CustomResource
}

// Deleter deletes custom resources. It implements rest.CorruptObjectDeleterProvider.
type Deleter interface {
	rest.GracefulDeleter
	rest.CollectionDeleter
	rest.CorruptObjectDeleterProvider
}

// Deleter returns the storage that deletes objects in requests for the version. With conversion
// rules, it does not convert objects, so that an object that does not convert can be deleted, and
// with it its namespace. Validation functions get objects in the version in which they are stored;
// DeletionAdmission converts them if a plugin reads them.
func (v *VersionEndpoints) Deleter() Deleter {
	if v.versioned == nil {
		return v.Storage.CustomResource
	}
	store := *v.asStored.Store
	store.PredicateFunc = func(label labels.Selector, field fields.Selector) storage.SelectionPredicate {
		return v.versioned.Predicate(v.Storage.CustomResource.PredicateFunc(label, field))
	}
	return deleter{&store, v}
}

type deleter struct {
	store   *registry.Store
	version *VersionEndpoints
}

// Delete implements rest.GracefulDeleter. It returns no object if the object has finalizers and
// does not convert.
func (d deleter) Delete(ctx context.Context, name string, validate rest.ValidateObjectFunc, options *metav1.DeleteOptions) (runtime.Object, bool, error) {
	out, deleted, err := d.store.Delete(ctx, name, validate, options)
	u, ok := out.(*unstructured.Unstructured)
	if err != nil || !ok {
		return out, deleted, err
	}
	converted, conversionErr := d.version.versioned.Convert(u)
	if conversionErr != nil {
		return nil, deleted, nil
	}
	return converted, deleted, nil
}

// DeleteCollection implements rest.CollectionDeleter. It returns no objects, unless all of them
// have the version of the request, since clients, such as the namespace controller, need none.
func (d deleter) DeleteCollection(ctx context.Context, validate rest.ValidateObjectFunc, options *metav1.DeleteOptions, selection *metainternalversion.ListOptions) (runtime.Object, error) {
	out, err := d.store.DeleteCollection(ctx, validate, options, selection)
	list, ok := out.(*unstructured.UnstructuredList)
	if err != nil || !ok {
		return out, err
	}
	gv := d.version.Scope.Kind.GroupVersion()
	for i := range list.Items {
		if list.Items[i].GroupVersionKind().GroupVersion() != gv {
			return nil, nil
		}
	}
	list.SetAPIVersion(gv.String())
	return list, nil
}

// GetCorruptObjDeleter implements rest.CorruptObjectDeleterProvider. An object is corrupt if it
// cannot be read in the version.
func (d deleter) GetCorruptObjDeleter() rest.GracefulDeleter {
	return d.version.Storage.CustomResource.GetCorruptObjDeleter()
}
