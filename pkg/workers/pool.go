// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package workers processes the keys of a work queue without head-of-line blocking: keys that
// take long do not delay those behind them.
package workers

import (
	"context"
	"sync"
	"time"

	"k8s.io/client-go/util/workqueue"
)

// Pool processes the keys of a queue by several workers. When a key takes longer than SlowAfter,
// another worker is added until that key is done. The slow key itself is not interrupted.
type Pool[K comparable] struct {
	// Queue is shut down when Run ends.
	Queue workqueue.TypedInterface[K]
	// Process is called for each key, never for the same key at the same time. Keys that are
	// still queued when the context of Run ends are dropped.
	Process func(context.Context, K)
	// OnSlow, unless it is nil, is called once for each key that takes longer than SlowAfter,
	// while it is processed. It must not block.
	OnSlow func(K)
	// Workers is how many keys are processed at a time.
	Workers int
	// SlowAfter is how long a key may take before another worker is added.
	SlowAfter time.Duration
	// MaxAdded bounds the workers that are added, and with them the memory that slow keys take
	// together. When there are that many, the next keys wait.
	MaxAdded int

	running sync.WaitGroup
	lock    sync.Mutex
	// workers is how many there are, and slow how many keys take longer than SlowAfter.
	workers, slow int
}

// Run processes keys until ctx ends, and returns when no worker runs any more. It may be called
// once.
func (p *Pool[K]) Run(ctx context.Context) {
	defer p.running.Wait()
	defer p.Queue.ShutDown()
	p.lock.Lock()
	p.addWorkers(ctx)
	p.lock.Unlock()
	<-ctx.Done()
}

// addWorkers starts as many workers as are missing. The lock is held, and either Run has not
// returned or a worker runs, so nobody has stopped waiting.
func (p *Pool[K]) addWorkers(ctx context.Context) {
	for p.workers < p.wanted() {
		p.workers++
		p.running.Go(func() { p.work(ctx) })
	}
}

func (p *Pool[K]) wanted() int { return p.Workers + min(p.slow, p.MaxAdded) }

func (p *Pool[K]) work(ctx context.Context) {
	for surplus := false; !surplus; {
		key, ended := p.Queue.Get()
		if ended {
			return
		}
		surplus = p.process(ctx, key)
	}
}

// process handles one key. It reports whether the worker that calls it is one too many
// afterwards, and no longer counts it in that case.
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
		if surplus = p.workers > p.wanted(); surplus {
			p.workers--
		}
	}()
	p.Process(ctx, key)
	return false
}
