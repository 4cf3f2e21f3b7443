// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package paramsource

import (
	"errors"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/cache"
)

// newInformer returns an informer for all objects of a resource. The caller starts it.
func newInformer(client dynamic.Interface, r resource, gvk schema.GroupVersionKind, watchFailed cache.WatchErrorHandlerWithContext) (cache.SharedIndexInformer, error) {
	informer := dynamicinformer.NewFilteredDynamicInformer(client, r.GroupVersionResource, metav1.NamespaceAll, 0,
		cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc}, nil).Informer()
	transform := func(object any) (any, error) {
		if param, ok := object.(*unstructured.Unstructured); ok {
			return asParam(param, gvk), nil
		}
		return object, nil
	}
	return informer, errors.Join(informer.SetTransform(transform), informer.SetWatchErrorHandlerWithContext(watchFailed))
}

// asParam changes an object to the form in which expressions read params. Kubernetes' informers
// strip managedFields from objects of built-in kinds, so a policy must not see them here either.
// Custom resources keep their managedFields; only whole numbers become integers.
func asParam(object *unstructured.Unstructured, gvk schema.GroupVersionKind) *unstructured.Unstructured {
	if scheme.Scheme.Recognizes(gvk) {
		object.SetManagedFields(nil)
	}
	integers(object.Object)
	return object
}
