// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package paramsource

import (
	"context"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/cache"

	"celador.io/admission/params"
)

// getTimeout is the time that a request waits for the server to return one param.
const getTimeout = time.Second

// A lister implements params.Lister.
type lister struct {
	Resource
	gvk     schema.GroupVersionKind
	client  dynamic.NamespaceableResourceInterface
	objects cache.Indexer
	synced  <-chan struct{}
	// listings is registered as the handler of the informer's events.
	listings *listings
}

// newLister returns a lister of the objects of an informer, which the caller starts afterwards.
func newLister(client dynamic.Interface, r Resource, gvk schema.GroupVersionKind, informer cache.SharedIndexInformer) (params.Lister, error) {
	l := &lister{
		Resource: r,
		gvk:      gvk,
		client:   client.Resource(r.GroupVersionResource),
		objects:  informer.GetIndexer(),
		synced:   informer.HasSyncedChecker().Done(),
		listings: &listings{},
	}
	_, err := informer.AddEventHandler(l.listings)
	return l, err
}

// Namespaced implements params.Lister.
func (l *lister) Namespaced() bool { return l.Resource.Namespaced }

// Synced implements params.Lister.
func (l *lister) Synced() <-chan struct{} { return l.synced }

// Get implements params.Lister. If the informer does not know the object, Get requests it from the
// server, because it may have been created a moment ago.
func (l *lister) Get(ctx context.Context, namespace, name string) (*unstructured.Unstructured, error) {
	cached, ok, err := l.objects.GetByKey(cache.NewObjectName(namespace, name).String())
	if err != nil {
		return nil, err
	}
	if ok {
		return cached.(*unstructured.Unstructured), nil
	}
	ctx, cancel := context.WithTimeout(ctx, getTimeout)
	defer cancel()
	object, err := l.client.Namespace(namespace).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return nil, err
	}
	return asParam(object, l.gvk), nil
}

// List implements params.Lister. It returns the same slice until an object in the namespace
// changes.
func (l *lister) List(namespace string, selector labels.Selector) ([]*unstructured.Unstructured, error) {
	return l.listings.get(namespace, selector.String(), func() ([]*unstructured.Unstructured, error) { return l.list(namespace, selector) })
}

func (l *lister) list(namespace string, selector labels.Selector) ([]*unstructured.Unstructured, error) {
	objects, err := l.objectsIn(namespace)
	if err != nil {
		return nil, err
	}
	var found []*unstructured.Unstructured
	for _, object := range objects {
		param := object.(*unstructured.Unstructured)
		if selector.Empty() || selector.Matches(labels.Set(param.GetLabels())) {
			found = append(found, param)
		}
	}
	slices.SortFunc(found, func(a, b *unstructured.Unstructured) int { return strings.Compare(a.GetName(), b.GetName()) })
	return found, nil
}

func (l *lister) objectsIn(namespace string) ([]any, error) {
	if l.Resource.Namespaced {
		return l.objects.ByIndex(cache.NamespaceIndex, namespace)
	}
	return l.objects.List(), nil
}
