// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"sync"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/klog/v2"

	"celador.io/admission/lookups"
)

// lookupSource finds the objects of a cluster that policies look up. Changes by requests are not
// visible.
type lookupSource struct{ cluster *Cluster }

// Open implements lookups.Source.
func (s lookupSource) Open(kind schema.GroupVersionKind, index lookups.Index) lookups.Handle {
	return lookupKind(sync.OnceValues(func() (*lookups.State, error) { return s.cluster.lookupState(kind, index) }))
}

// lookupKind returns the objects of a kind.
type lookupKind func() (*lookups.State, error)

// State implements lookups.Handle.
func (k lookupKind) State(context.Context) (*lookups.State, error) { return k() }

// Close implements lookups.Handle.
func (lookupKind) Close() {}

func (c *Cluster) lookupState(kind schema.GroupVersionKind, index lookups.Index) (*lookups.State, error) {
	r, err := c.resourceOf(kind)
	if err != nil {
		return nil, err
	}
	var found []runtime.Object
	for _, stored := range c.objects.list("/" + r.prefix + "/") {
		object, err := r.read(stored)
		if err != nil {
			return nil, err
		}
		found = append(found, object)
	}
	objects := lookups.NewObjects(r.namespaced, klog.Background())
	if index != nil {
		objects.AddIndex(index)
	}
	if err := objects.Replace(found); err != nil {
		return nil, err
	}
	return objects.State(), nil
}
