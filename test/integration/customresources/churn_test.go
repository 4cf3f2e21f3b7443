// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package customresources

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"net/http"
	"runtime"
	"runtime/pprof"
	"slices"
	"sync"
	"testing"

	"k8s.io/client-go/rest"

	"celador.io/celador/test/integration/testserver"
)

const (
	// slots is how many definitions exist at the same time, and rounds how often each is created
	// and deleted. The server delays the first creation of an object by two seconds.
	slots  = 50
	rounds = 10

	// A definition that stays served leaves several goroutines and several hundred kilobytes.
	// moreGoroutines is how many connections and the like may be added in all. bytesPerLife is what
	// a deleted definition may leave behind on average, mostly its history in etcd.
	moreGoroutines = slots
	bytesPerLife   = 150 << 10
)

// Definitions come, change and go while clients use their objects. The server answers all requests
// as the API promises, and keeps nothing of a definition that is gone.
func TestChurn(t *testing.T) {
	clients, failures := strict(t)
	store := testserver.Store(t, dataDir)
	var lives []*life
	for slot := range slots {
		lives = append(lives, &life{clients: clients, store: store, group: uniqueGroup(fmt.Sprintf("churn%d", slot))})
	}
	live := func() {
		var running sync.WaitGroup
		for _, l := range lives {
			running.Go(func() {
				if err := l.live(t.Context()); err != nil {
					t.Errorf("%s: %v", l.group, err)
				}
			})
		}
		running.Wait()
	}

	goroutines := runtime.NumGoroutine()
	// The first round creates what stays, such as the metrics of each resource.
	live()
	expectGoroutines(t, goroutines+moreGoroutines)
	heap := heapInUse()
	for range rounds - 1 {
		if t.Failed() {
			break
		}
		live()
	}
	expectGoroutines(t, goroutines+moreGoroutines)
	const limit = (rounds - 1) * slots * bytesPerLife
	if grown := heapInUse() - heap; grown > limit {
		t.Errorf("the heap has grown by %d kB after %d definitions, want at most %d kB", grown>>10, (rounds-1)*slots, limit>>10)
	} else {
		t.Logf("the heap has grown by %d kB", grown>>10)
	}
	failures.check(t)
	total := watchStatistics{}
	for _, l := range lives {
		total.add(l.watches)
	}
	t.Logf("%d definitions: %+v", slots*rounds, total)
}

// strict returns clients that do not hide server errors by repeating requests, and the server
// errors that they meet.
func strict(t *testing.T) (testserver.Clients, *serverErrors) {
	failures := &serverErrors{count: map[string]int{}}
	config := rest.CopyConfig(admin.Config)
	config.WarningHandler = rest.NoWarnings{}
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return recording{next, failures} })
	return testserver.Must(testserver.NewClients(config))(t), failures
}

// serverErrors counts responses with status 500 and above. It is safe for concurrent use.
type serverErrors struct {
	lock  sync.Mutex
	count map[string]int
}

type recording struct {
	http.RoundTripper
	*serverErrors
}

func (r recording) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := r.RoundTripper.RoundTrip(request)
	if err == nil && response.StatusCode >= http.StatusInternalServerError {
		r.lock.Lock()
		defer r.lock.Unlock()
		r.count[fmt.Sprint(request.Method, " with status ", response.Status)]++
	}
	return response, err
}

func (e *serverErrors) check(t *testing.T) {
	t.Helper()
	e.lock.Lock()
	defer e.lock.Unlock()
	for _, name := range slices.Sorted(maps.Keys(e.count)) {
		t.Errorf("%d responses to %s", e.count[name], name)
	}
}

// expectGoroutines waits until the process has at most this many goroutines. The server stops
// serving a definition some seconds after the definition is gone.
func expectGoroutines(t *testing.T, limit int) {
	t.Helper()
	if err := eventually(t.Context(), func(context.Context) error {
		if running := runtime.NumGoroutine(); running > limit {
			return fmt.Errorf("%d goroutines, want at most %d", running, limit)
		}
		return nil
	}); err != nil {
		var stacks bytes.Buffer
		if err := pprof.Lookup("goroutine").WriteTo(&stacks, 1); err != nil {
			t.Error(err)
		}
		// The most frequent stacks are first.
		t.Fatalf("%v:\n%.8000s", err, stacks.String())
	}
}

// heapInUse returns the number of bytes that are in use.
func heapInUse() int64 {
	for range 3 { // a sync.Pool keeps objects for one more collection
		runtime.GC()
	}
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return int64(stats.HeapAlloc)
}
