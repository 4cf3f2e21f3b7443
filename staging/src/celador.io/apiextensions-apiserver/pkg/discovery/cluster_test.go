// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package discovery_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	listers "k8s.io/apiextensions-apiserver/pkg/client/listers/apiextensions/v1"
	"k8s.io/client-go/tools/cache"
	cachetesting "k8s.io/client-go/tools/cache/testing"
)

// A cluster holds CRDs and an informer of them. It belongs to the bubble of a test.
type cluster struct {
	*cachetesting.FakeControllerSource
	informer

	ctx     context.Context
	running sync.WaitGroup
}

type informer struct{ cache.SharedIndexInformer }

func (i informer) Informer() cache.SharedIndexInformer { return i }

func (i informer) Lister() listers.CustomResourceDefinitionLister {
	return listers.NewCustomResourceDefinitionLister(i.GetIndexer())
}

// listed lists and watches, because the fake source cannot stream its first list.
type listed struct {
	*cachetesting.FakeControllerSource
}

func (listed) IsWatchListSemanticsUnSupported() bool { return true }

// newCluster returns a cluster with the CRDs, whose informer is idle until start. All that run
// starts has to end at the end of the test.
func newCluster(t *testing.T, crds ...*definition) *cluster {
	source := cachetesting.NewFakeControllerSource()
	ctx, cancel := context.WithCancel(t.Context())
	c := &cluster{
		FakeControllerSource: source,
		informer:             informer{cache.NewSharedIndexInformer(listed{source}, &definition{}, 5*time.Minute, cache.Indexers{})},
		ctx:                  ctx,
	}
	for _, crd := range crds {
		c.Add(crd)
	}
	t.Cleanup(func() {
		cancel()
		c.running.Wait()
		c.Shutdown()
	})
	return c
}

func (c *cluster) start() { c.run(c.informer.RunWithContext) }

func (c *cluster) run(run func(context.Context)) { c.running.Go(func() { run(c.ctx) }) }

// miss deletes a CRD while the informer's watch is interrupted, so that the informer only learns
// from its next list that the CRD is gone.
func (c *cluster) miss(crd *definition) {
	c.DeleteDropWatch(crd)
	c.ResetWatch()
	time.Sleep(time.Minute)
	synctest.Wait()
}

// settle waits until nothing runs that time alone does not start. Upstream's controller polls every
// 100 ms until its informer has synced.
func settle() {
	time.Sleep(time.Second)
	synctest.Wait()
}
