// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"celador.io/admission/params"
)

// paramSource reads params among the objects of a cluster.
type paramSource struct{ cluster *Cluster }

// Open implements params.Source.
func (s paramSource) Open(kind schema.GroupVersionKind) params.Handle {
	return paramKind{s.cluster, kind}
}

type paramKind struct {
	cluster *Cluster
	kind    schema.GroupVersionKind
}

// Lister implements params.Handle. It returns an error if no resource serves the kind.
func (k paramKind) Lister(context.Context) (params.Lister, error) {
	r, err := k.cluster.resourceOf(k.kind)
	if err != nil {
		return nil, err
	}
	return paramLister{k.cluster, r}, nil
}

// Close implements params.Handle.
func (paramKind) Close() {}

type paramLister struct {
	cluster *Cluster
	*resource
}

var alwaysSynced = func() chan struct{} {
	synced := make(chan struct{})
	close(synced)
	return synced
}()

// Namespaced implements params.Lister.
func (l paramLister) Namespaced() bool { return l.namespaced }

// Synced implements params.Lister.
func (paramLister) Synced() <-chan struct{} { return alwaysSynced }

// Get implements params.Lister.
func (l paramLister) Get(_ context.Context, namespace, name string) (*unstructured.Unstructured, error) {
	stored := l.cluster.objects.get(l.key(namespace, name))
	if stored == nil {
		return nil, apierrors.NewNotFound(l.GroupResource(), name)
	}
	return l.param(stored)
}

// List implements params.Lister.
func (l paramLister) List(namespace string, selector labels.Selector) ([]*unstructured.Unstructured, error) {
	var found []*unstructured.Unstructured
	for _, stored := range l.cluster.objects.list(l.root(namespace)) {
		param, err := l.param(stored)
		if err != nil {
			return nil, err
		}
		if selector.Matches(labels.Set(param.GetLabels())) {
			found = append(found, param)
		}
	}
	return found, nil
}

// param converts an internal object to the version of the paramKind.
func (l paramLister) param(stored runtime.Object) (*unstructured.Unstructured, error) {
	object, err := l.read(stored)
	if err != nil {
		return nil, err
	}
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	if err != nil {
		return nil, err
	}
	return &unstructured.Unstructured{Object: content}, nil
}
