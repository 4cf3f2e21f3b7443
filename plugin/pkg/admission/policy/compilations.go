// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"context"
	"runtime"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache/synctrack"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/klog/v2"

	"celador.io/celador/pkg/workers"
	"celador.io/celador/plugin/pkg/admission/policymetrics"
)

const (
	// slowAfter is how long the compilation of a policy may delay others. Policies with dozens of
	// expressions take less; only very long ones, and types that are nested, take seconds.
	slowAfter = 50 * time.Millisecond
	// maxSlow bounds the memory of compilations that take longer.
	maxSlow = 4
	// maxWorkers bounds the memory of compilations at start-up on large machines.
	maxWorkers = 8
)

// compilations compile the policies that an informer sees, several at a time and apart from the
// informer's own goroutine: a policy that takes seconds to compile delays neither other
// policies nor bindings and deletions. The versions of one policy are compiled one after the
// other; those that are replaced before their turn comes are left out.
//
// Until a new version is compiled, the one before stays in effect. A deletion takes effect at
// once. Safe for concurrent use.
type compilations[P policyObject] struct {
	store   PolicyStore[P]
	metrics policymetrics.Metrics
	queue   *workqueue.Typed[string]
	// initial tracks the policies of the informer's first list until they are in effect.
	initial *synctrack.AsyncTracker[string]

	// lock orders changes of the store.
	lock sync.Mutex
	// pending has the policies by name that are not in effect as they were last seen.
	pending map[string]*pendingPolicy[P]
}

// policyObject is a pointer to a policy of some kind.
type policyObject interface {
	comparable
	metav1.Object
}

// pendingPolicy is a policy that waits for its compilation or is being compiled. One that is
// deleted and created again is another pendingPolicy.
type pendingPolicy[P policyObject] struct {
	latest P
	seen   time.Time
}

func newCompilations[P policyObject](store PolicyStore[P], metrics policymetrics.Metrics) *compilations[P] {
	kind := metrics.Kind()
	return &compilations[P]{
		store:   store,
		metrics: metrics,
		queue:   workqueue.NewTypedWithConfig(workqueue.TypedQueueConfig[string]{Name: kind}),
		initial: synctrack.NewAsyncTracker[string](kind),
		pending: map[string]*pendingPolicy[P]{},
	}
}

// run compiles until ctx ends.
func (c *compilations[P]) run(ctx context.Context) {
	pool := workers.Pool[string]{
		Queue:     c.queue,
		Process:   func(_ context.Context, name string) { c.compile(name) },
		OnSlow:    c.logSlow,
		Workers:   min(runtime.GOMAXPROCS(0), maxWorkers),
		SlowAfter: slowAfter,
		MaxAdded:  maxSlow,
	}
	pool.Run(ctx)
}

func (c *compilations[P]) logSlow(name string) {
	klog.V(2).InfoS("Policy takes long to compile and is not in effect yet", "kind", c.metrics.Kind(), "policy", name)
}

// add has a new policy compiled.
func (c *compilations[P]) add(policy P, inInitialList bool) {
	if inInitialList {
		c.initial.Start(policy.GetName())
	}
	c.lock.Lock()
	c.pending[policy.GetName()] = &pendingPolicy[P]{policy, time.Now()}
	c.lock.Unlock()
	c.queue.Add(policy.GetName())
}

// update has a policy compiled that takes the place of another one, unless they are the same:
// resyncs and status writes change nothing that is compiled.
func (c *compilations[P]) update(old, current P) {
	if old.GetUID() != current.GetUID() {
		c.add(current, false)
		return
	}
	if old.GetGeneration() == current.GetGeneration() {
		return
	}
	c.lock.Lock()
	if p := c.pending[current.GetName()]; p != nil {
		p.latest, p.seen = current, time.Now()
	} else {
		c.pending[current.GetName()] = &pendingPolicy[P]{current, time.Now()}
	}
	c.lock.Unlock()
	c.queue.Add(current.GetName())
}

// remove deletes a policy from the store. What is being compiled of it is dropped.
func (c *compilations[P]) remove(name string) {
	c.lock.Lock()
	defer c.lock.Unlock()
	seen := time.Now()
	delete(c.pending, name)
	c.store.DeletePolicy(name)
	c.metrics.Forget(name)
	c.metrics.ObserveBuild(time.Since(seen))
	c.initial.Finished(name)
}

// compile brings the latest version of a policy into effect, unless the policy is deleted
// meanwhile. If there is a later version by then, it follows.
func (c *compilations[P]) compile(name string) {
	c.lock.Lock()
	p := c.pending[name]
	if p == nil {
		c.lock.Unlock()
		return
	}
	policy, seen := p.latest, p.seen
	c.lock.Unlock()

	put := c.store.Compile(policy)

	c.lock.Lock()
	defer c.lock.Unlock()
	if c.pending[name] != p {
		return
	}
	put()
	c.metrics.ObserveBuild(time.Since(seen))
	c.initial.Finished(name)
	if p.latest == policy {
		delete(c.pending, name)
	}
}
