// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package workers_test

import (
	"context"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/client-go/util/workqueue"

	"celador.io/apiserver/pkg/workers"
)

const slowAfter = time.Second

// work runs a pool in the bubble of a test, which determines how long each key takes.
type work struct {
	queue *workqueue.Typed[string]
	stop  func()

	lock sync.Mutex
	// started and slow list keys in order. running maps the keys being processed to channels
	// that end their processing.
	started, slow []string
	running       map[string]chan struct{}
}

func start(t *testing.T, size, maxAdded int) *work {
	w := &work{queue: workqueue.NewTyped[string](), running: map[string]chan struct{}{}}
	pool := &workers.Pool[string]{
		Queue: w.queue, Workers: size, SlowAfter: slowAfter, MaxAdded: maxAdded,
		Process: func(_ context.Context, key string) {
			w.lock.Lock()
			if w.running[key] != nil {
				t.Errorf("%s is processed twice at the same time", key)
			}
			end := make(chan struct{})
			w.started, w.running[key] = append(w.started, key), end
			w.lock.Unlock()
			<-end
		},
		OnSlow: func(key string) {
			w.lock.Lock()
			defer w.lock.Unlock()
			w.slow = append(w.slow, key)
		},
	}
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { pool.Run(ctx) })
	w.stop = func() {
		cancel()
		synctest.Wait()
		w.lock.Lock()
		for _, end := range w.running {
			close(end)
		}
		w.running = map[string]chan struct{}{}
		w.lock.Unlock()
		running.Wait()
	}
	t.Cleanup(w.stop)
	return w
}

func (w *work) add(keys ...string) {
	for _, key := range keys {
		w.queue.Add(key)
		synctest.Wait()
	}
}

func (w *work) end(keys ...string) {
	for _, key := range keys {
		w.lock.Lock()
		end := w.running[key]
		delete(w.running, key)
		w.lock.Unlock()
		close(end)
		synctest.Wait()
	}
}

// expect expects exactly these keys to have been started since the last call.
func (w *work) expect(t *testing.T, when string, want ...string) {
	t.Helper()
	synctest.Wait()
	w.lock.Lock()
	defer w.lock.Unlock()
	if !slices.Equal(w.started, want) {
		t.Errorf("%s: started %q, want %q", when, w.started, want)
	}
	w.started = nil
}

func TestSlowKeysAreOvertaken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := start(t, 2, 2)
		w.add("a", "b", "c", "d", "e")
		w.expect(t, "at first", "a", "b")
		time.Sleep(slowAfter)
		w.expect(t, "when a and b are slow", "c", "d")
		w.end("c")
		w.expect(t, "when c is done", "e")
		w.end("d", "e")
		w.add("f", "g", "h")
		w.expect(t, "while a and b are slow", "f", "g")
		w.end("a")
		w.expect(t, "when f and g and b are left")
		w.end("f", "b")
		w.expect(t, "when g is left", "h")
		slices.Sort(w.slow) // both became so at the same time
		if want := []string{"a", "b"}; !slices.Equal(w.slow, want) {
			t.Errorf("slow are %q, want %q", w.slow, want)
		}
	})
}

// The pool adds at most MaxAdded workers, and never runs fewer than Workers.
func TestAddedWorkersAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := start(t, 1, 2)
		w.add("a", "b", "c", "d", "e")
		time.Sleep(10 * slowAfter)
		w.expect(t, "when all are slow", "a", "b", "c")
		w.end("b")
		w.expect(t, "when b is done", "d")
		time.Sleep(slowAfter)
		w.expect(t, "when d is slow")
		w.end("a", "c", "d")
		w.expect(t, "when e is left", "e")
		w.add("f")
		w.expect(t, "while e is not slow")
		w.end("e")
		w.expect(t, "when e is done", "f")
	})
}

// A key that is added while it is processed is processed once more.
func TestKeysAreSerialized(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := start(t, 2, 1)
		w.add("a", "a", "a")
		time.Sleep(slowAfter)
		w.expect(t, "at first", "a")
		w.end("a")
		w.expect(t, "when a is done", "a")
		w.end("a")
		w.expect(t, "when a is done again")
	})
}

func TestRunReturns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := start(t, 1, 1)
		w.add("a", "b", "c", "d")
		time.Sleep(slowAfter)
		w.expect(t, "at first", "a", "b")
		w.stop() // does not return before Run
		w.expect(t, "when stopped")
		w.add("e")
		w.expect(t, "after that")
	})
}
