// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package workers processes the keys of a work queue so that slow keys do not delay the keys
// behind them.
package workers

import (
	"context"
	"sync"
	"time"

	"k8s.io/client-go/util/workqueue"
)

// A Pool processes the keys of a queue with several workers. If a key takes longer than SlowAfter,
// the pool runs another worker until the key is done. The slow key is not interrupted. Set the
// exported fields before Run, and do not change them afterwards.
type Pool[K comparable] struct {
	// Queue is shut down when Run ends.
	Queue workqueue.TypedInterface[K]
	// Process handles a key. It is called for several keys at a time, but never twice at a time
	// for the same key. Keys that are still queued when the context of Run ends are dropped.
	Process func(context.Context, K)
	// OnSlow, if not nil, is called once for each key that takes longer than SlowAfter, while
	// Process still runs. It is called with an internal lock held and must not block.
	OnSlow func(K)
	// Workers is the number of keys processed at a time, at least 1.
	Workers int
	// SlowAfter is how long a key may take before another worker is added.
	SlowAfter time.Duration
	// MaxAdded bounds the number of added workers, and so the memory that slow keys take
	// together. Once that many have been added, further keys wait.
	MaxAdded int

	running sync.WaitGroup
	lock    sync.Mutex
	// workers is the number of running workers, slow the number of keys that take longer than
	// SlowAfter.
	workers, slow int
}

// Run processes keys until ctx ends. It then shuts the queue down, and returns when all workers
// have ended. It must be called at most once.
func (p *Pool[K]) Run(ctx context.Context) {
	defer p.running.Wait()
	defer p.Queue.ShutDown()
	p.lock.Lock()
	p.addWorkers(ctx)
	p.lock.Unlock()
	<-ctx.Done()
}

// addWorkers starts workers until as many run as target returns. The caller holds the lock. Run
// waits for the new workers, too: either Run itself calls addWorkers before it waits, or the timer
// of a slow key does while the worker with this key, for which Run waits, still runs.
func (p *Pool[K]) addWorkers(ctx context.Context) {
	for p.workers < p.target() {
		p.workers++
		p.running.Go(func() { p.work(ctx) })
	}
}

// target returns the number of workers that should be running. The caller holds the lock.
func (p *Pool[K]) target() int { return p.Workers + min(p.slow, p.MaxAdded) }

func (p *Pool[K]) work(ctx context.Context) {
	for surplus := false; !surplus; {
		key, ended := p.Queue.Get()
		if ended {
			return
		}
		surplus = p.process(ctx, key)
	}
}

// process handles one key. It returns true if the calling worker must end: a worker was added
// because the key was slow, and the key is done now, so one worker is too many. p.workers no longer
// counts the calling worker then.
func (p *Pool[K]) process(ctx context.Context, key K) (surplus bool) {
	defer p.Queue.Done(key)
	if ctx.Err() != nil {
		return false
	}
	slow, done := false, false
	timer := time.AfterFunc(p.SlowAfter, func() {
		p.lock.Lock()
		defer p.lock.Unlock()
		if done {
			return
		}
		slow = true
		p.slow++
		p.addWorkers(ctx)
		if p.OnSlow != nil {
			p.OnSlow(key)
		}
	})
	defer func() {
		timer.Stop()
		p.lock.Lock()
		defer p.lock.Unlock()
		done = true
		if !slow {
			return
		}
		p.slow--
		if surplus = p.workers > p.target(); surplus {
			p.workers--
		}
	}()
	p.Process(ctx, key)
	return false
}
