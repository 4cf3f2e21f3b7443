// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"context"
	"runtime"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/klog/v2"

	"celador.io/apiserver/pkg/admission/plugin/policymetrics"
	"celador.io/apiserver/pkg/workers"
)

const (
	// slowAfter is how long the compilation of a policy may take before another worker is
	// added. Policies with dozens of expressions compile faster. Only very long policies and
	// deeply nested types take seconds.
	slowAfter = 50 * time.Millisecond
	// maxSlow bounds the number of compilations that take longer than slowAfter, and so their
	// memory.
	maxSlow = 4
	// maxWorkers bounds the number of concurrent compilations, and so their memory when many
	// policies change on machines with many cores.
	maxWorkers = 8
)

// compilations compiles the new and changed policies that an informer delivers, several at a time
// and outside of the informer's goroutine, so a policy that takes seconds to compile delays neither
// other policies nor bindings and deletions. Versions of one policy are compiled one after the
// other. A version that is replaced before its compilation begins is skipped.
//
// Until a new version is compiled, the previous one stays in effect. If no requests evaluate the
// policy, the new version takes effect immediately and is compiled later, so a policy that changes
// more often than requests match it is not compiled each time. A deletion takes effect immediately.
// Safe for concurrent use.
type compilations[Policy policyObject] struct {
	store    policyStore[Policy]
	sameSpec func(a, b Policy) bool
	metrics  policymetrics.Metrics
	queue    *workqueue.Typed[string]

	// lock guards pending and serializes changes of the store.
	lock sync.Mutex
	// pending holds, by name, the policies whose latest version is not in effect yet.
	pending map[string]*pendingPolicy[Policy]
}

// policyObject is the constraint of types that are pointers to policies.
type policyObject interface {
	comparable
	metav1.Object
}

// pendingPolicy is a policy that is queued or being compiled. A policy that is deleted and
// created again gets a new pendingPolicy.
type pendingPolicy[Policy policyObject] struct {
	latest Policy
	seen   time.Time
}

func newCompilations[Policy policyObject](store policyStore[Policy], sameSpec func(a, b Policy) bool, metrics policymetrics.Metrics) *compilations[Policy] {
	return &compilations[Policy]{
		store:    store,
		sameSpec: sameSpec,
		metrics:  metrics,
		queue:    workqueue.NewTypedWithConfig(workqueue.TypedQueueConfig[string]{Name: metrics.Kind()}),
		pending:  map[string]*pendingPolicy[Policy]{},
	}
}

// run compiles queued policies until ctx ends.
func (c *compilations[Policy]) run(ctx context.Context) {
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

func (c *compilations[Policy]) logSlow(name string) {
	klog.V(2).InfoS("Policy takes long to compile and is not in effect yet", "kind", c.metrics.Kind(), "policy", name)
}

// addUncompiled puts a policy into the store, which compiles it when it is needed.
func (c *compilations[Policy]) addUncompiled(policy Policy) {
	seen := time.Now()
	c.store.SetUncompiled(policy)
	c.metrics.ObserveBuild(time.Since(seen))
}

// add queues a new policy for compilation.
func (c *compilations[Policy]) add(policy Policy) {
	c.lock.Lock()
	c.pending[policy.GetName()] = &pendingPolicy[Policy]{policy, time.Now()}
	c.lock.Unlock()
	c.queue.Add(policy.GetName())
}

// update queues a changed policy for compilation, or puts it into the store uncompiled. It ignores
// resyncs and status writes, which leave the generation and the spec as they are. The generation
// alone does not tell: a server of Kubernetes that shares etcd drops Celador's fields with any
// write, and does not count that as a change of the spec.
func (c *compilations[Policy]) update(old, current Policy) {
	if old.GetUID() != current.GetUID() {
		c.add(current)
		return
	}
	if old.GetGeneration() == current.GetGeneration() && (old.GetResourceVersion() == current.GetResourceVersion() || c.sameSpec(old, current)) {
		return
	}
	name, seen := current.GetName(), time.Now()
	c.lock.Lock()
	defer c.lock.Unlock()
	if p := c.pending[name]; p != nil {
		p.latest, p.seen = current, seen
	} else if c.store.Evaluated(name) {
		c.pending[name] = &pendingPolicy[Policy]{current, seen}
	} else {
		c.addUncompiled(current)
		return
	}
	c.queue.Add(name)
}

// remove deletes a policy from the store and discards its compilation, if one is running.
func (c *compilations[Policy]) remove(name string) {
	c.lock.Lock()
	defer c.lock.Unlock()
	seen := time.Now()
	delete(c.pending, name)
	c.store.DeletePolicy(name)
	c.metrics.Forget(name)
	c.metrics.ObserveBuild(time.Since(seen))
}

// compile compiles the latest version of a policy and puts it into the store, unless the policy
// was deleted meanwhile. A version that arrived meanwhile is queued already.
func (c *compilations[Policy]) compile(name string) {
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
	if p.latest == policy {
		delete(c.pending, name)
	}
}
