// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package paramsource

import (
	"context"
	"errors"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/cache"
)

// newInformer returns an informer for all objects of a resource, which the caller starts. open gets
// to know when the informer's watch is open. watchFailed is called with the error of a list or
// watch.
func newInformer(open *watched, gvk schema.GroupVersionKind, watchFailed cache.WatchErrorHandlerWithContext) (cache.SharedIndexInformer, error) {
	objects := open.client.Resource(open.resource.GroupVersionResource)
	informer := cache.NewSharedIndexInformerWithOptions(cache.ToListWatcherWithWatchListSemantics(&cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
			return objects.List(ctx, options)
		},
		WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
			events, err := objects.Watch(ctx, options)
			if err != nil {
				return nil, err
			}
			return open.opened(events), nil
		},
	}, open.client), &unstructured.Unstructured{}, cache.SharedIndexInformerOptions{
		Indexers:          cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc},
		ObjectDescription: open.resource.GroupVersionResource.String(),
	})
	transform := func(object any) (any, error) {
		if param, ok := object.(*unstructured.Unstructured); ok {
			return asParam(param, gvk), nil
		}
		return object, nil
	}
	return informer, errors.Join(informer.SetTransform(transform), informer.SetWatchErrorHandlerWithContext(watchFailed))
}

// asParam changes an object to what expressions read as a param. Kubernetes' informers strip
// managedFields from objects of built-in kinds, so a policy must not see them here either. Custom
// resources keep their managedFields; only whole numbers become integers.
func asParam(object *unstructured.Unstructured, gvk schema.GroupVersionKind) *unstructured.Unstructured {
	if scheme.Scheme.Recognizes(gvk) {
		object.SetManagedFields(nil)
	}
	integers(object.Object)
	return object
}
