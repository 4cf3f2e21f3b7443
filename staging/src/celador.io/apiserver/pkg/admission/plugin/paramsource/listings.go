// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package paramsource

import (
	"sync"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/tools/cache"
)

const (
	// maxListed is the maximum number of params in listings, which take 8 bytes each. When it is
	// exceeded, all results are removed. A result that exceeds it alone is not stored.
	maxListed = 1 << 17
	// resultSize is the approximate memory of a result without its params, as a number of params.
	resultSize = 64
)

// listings keeps the results of listing the params of a namespace until an object in the namespace
// changes. Safe for concurrent use. Reading a kept result takes no lock.
type listings struct {
	// namespaces maps the name of a namespace to a *sync.Map from selectors to results. An event
	// removes the map of the namespace. A result that was listed before the event may still be
	// stored in the removed map, where no later request finds it.
	namespaces sync.Map
	// listed is the size of all results that were stored since all were last removed, to be
	// compared with maxListed. The size of a result is the number of its params and resultSize.
	listed atomic.Int64
}

// get returns the objects that a selector selects in a namespace. If there is no result for the
// text of the selector, it calls list, which lists the objects in the informer's cache. list must
// return every change that the cache has: no later event would remove an outdated result.
func (l *listings) get(namespace, selector string, list func() ([]*unstructured.Unstructured, error)) ([]*unstructured.Unstructured, error) {
	kept, ok := l.namespaces.Load(namespace)
	if !ok {
		kept, _ = l.namespaces.LoadOrStore(namespace, &sync.Map{})
	}
	results := kept.(*sync.Map)
	if found, ok := results.Load(selector); ok {
		return found.([]*unstructured.Unstructured), nil
	}
	found, err := list()
	if err != nil {
		return nil, err
	}
	size := int64(resultSize + len(found))
	if size > maxListed {
		return found, nil
	}
	if l.listed.Add(size) > maxListed {
		l.listed.Store(0)
		l.namespaces.Clear()
		return found, nil
	}
	results.Store(selector, found)
	return found, nil
}

// changed removes the results for the namespace of an object. The informer calls it after it has
// stored the change.
func (l *listings) changed(object any) {
	if name, err := cache.DeletionHandlingObjectToName(object); err == nil {
		l.namespaces.Delete(name.Namespace)
	}
}

// OnAdd implements cache.ResourceEventHandler.
func (l *listings) OnAdd(object any, _ bool) { l.changed(object) }

// OnUpdate implements cache.ResourceEventHandler.
func (l *listings) OnUpdate(_, object any) { l.changed(object) }

// OnDelete implements cache.ResourceEventHandler.
func (l *listings) OnDelete(object any) { l.changed(object) }
