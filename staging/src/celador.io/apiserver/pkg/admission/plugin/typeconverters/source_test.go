// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package typeconverters_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

const (
	// tick is enough time for a source to react without waiting.
	tick = time.Millisecond
	// poll is the time between polls without requests.
	poll = 5 * time.Second
	// pause is the minimum time between polls that requests cause.
	pause = 500 * time.Millisecond
	// publishWait is the time that requests wait for a kind.
	publishWait = 2500 * time.Millisecond
)

// A document is read once for all requests, and later requests do not wait.
func TestReadsOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &server{slow: time.Second}
		s.publish(boxes, documentOf(box, "old"))
		source, _ := start(t, s)
		var requests sync.WaitGroup
		for range 50 {
			requests.Go(func() { expect(t, source, box, "old", time.Second) })
		}
		requests.Wait()
		expect(t, source, box, "old", 0)
		if _, reads := s.requests(); reads != 1 {
			t.Errorf("read %d times, want once", reads)
		}
	})
}

// A document that no request needs is not read, even if it changes.
func TestUnused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &server{}
		s.publish(boxes, documentOf(box, "old"))
		start(t, s)
		time.Sleep(poll)
		s.publish(boxes, documentOf(box, "new"))
		time.Sleep(2 * poll)
		synctest.Wait()
		if polls, reads := s.requests(); reads != 0 || len(polls) != 4 {
			t.Errorf("read %d times and polled %d times, want 0 and 4", reads, len(polls))
		}
	})
}

// Requests get the published types as soon as a poll has seen them.
func TestFollows(t *testing.T) {
	crate := schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Crate"}
	configMap := schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}
	type step struct {
		do    func(*server)
		after time.Duration // until the request
		kind  schema.GroupVersionKind
		want  string // empty for no request
		took  time.Duration
	}
	publish := func(path, text string) func(*server) {
		return func(s *server) { s.publish(path, text) }
	}
	nothing := func(*server) {}
	for name, tc := range map[string]struct {
		slow  time.Duration
		steps []step
	}{
		"core group": {steps: []step{{do: publish("api/v1", documentOf(configMap, "old")), kind: configMap, want: "old"}}},
		"changed, seen at the next poll": {slow: 100 * time.Millisecond, steps: []step{
			{do: publish(boxes, documentOf(box, "old")), kind: box, want: "old", took: 100 * time.Millisecond},
			{do: publish(boxes, documentOf(box, "new")), after: time.Second, kind: box, want: "old"},
			{do: nothing, after: poll - 3100*time.Millisecond + tick, kind: box, want: "new", took: 100*time.Millisecond - tick},
			{do: nothing, kind: box, want: "new"},
		}},
		"changed while in use, read at once": {slow: 100 * time.Millisecond, steps: []step{
			{do: publish(boxes, documentOf(box, "old")), kind: box, want: "old", took: 100 * time.Millisecond},
			{do: publish(boxes, documentOf(box, "new")), after: 2 * poll, kind: box, want: "new"},
		}},
		"changed and unreadable": {steps: []step{
			{do: publish(boxes, documentOf(box, "old")), kind: box, want: "old"},
			{do: func(s *server) {
				s.publish(boxes, documentOf(box, "new"))
				s.set(func() { s.broken = true })
			}, after: poll, kind: box, want: "old"},
			{do: nothing, after: time.Minute, kind: box, want: "old"},
			{do: func(s *server) { s.set(func() { s.broken = false }) }, after: poll, kind: box, want: "new"},
		}},
		"changed to what is no document, and again": {slow: 100 * time.Millisecond, steps: []step{
			{do: publish(boxes, documentOf(box, "old")), kind: box, want: "old", took: 100 * time.Millisecond},
			{do: publish(boxes, `{"components": []}`), after: poll, kind: box, want: "old"},
			{do: publish(boxes, documentOf(box, "new")), after: 2 * poll, kind: box, want: "new"},
		}},
		"changed and unreadable, kind that was not there": {steps: []step{
			{do: publish(boxes, documentOf(box, "old")), kind: box, want: "old"},
			{do: publish(boxes, `{"components": []}`), after: poll, kind: crate, want: none, took: publishWait},
			{do: nothing, kind: box, want: "old"},
		}},
		"changed and does not come": {steps: []step{
			{do: publish(boxes, documentOf(box, "old")), kind: box, want: "old"},
			{do: func(s *server) {
				s.publish(boxes, documentOf(box, "new"))
				s.set(func() { s.slow = time.Hour })
			}, after: poll, kind: box, want: "old", took: 4 * time.Second},
			{do: nothing, kind: box, want: "old"},
			{do: nothing, after: poll, kind: box, want: "old"}, // the failed document is requested again
			{do: nothing, after: poll, kind: box, want: "old"},
			{do: func(s *server) { s.set(func() { s.slow = 0 }) }, after: 4 * poll, kind: box, want: "new"},
		}},
		"changed, unreadable and gone": {steps: []step{
			{do: publish(boxes, documentOf(box, "old")), kind: box, want: "old"},
			{do: publish(boxes, `{"components": []}`), after: poll, kind: box, want: "old"},
			{do: func(s *server) { s.withdraw(boxes) }, after: poll, kind: box, want: none, took: publishWait},
		}},
		"gone": {steps: []step{
			{do: publish(boxes, documentOf(box, "old")), kind: box, want: "old"},
			{do: func(s *server) { s.withdraw(boxes) }, after: time.Second, kind: box, want: "old"},
			{do: nothing, after: poll, kind: box, want: none, took: publishWait},
		}},
		"published later than requests wait": {steps: []step{
			{do: nothing, after: time.Second, kind: box, want: none, took: publishWait},
			{do: publish(boxes, documentOf(box, "old")), after: poll, kind: box, want: "old"},
		}},
		"new kind": {steps: []step{
			{do: publish(boxes, documentOf(box, "old")), kind: box, want: "old"},
			{do: publish(boxes, documentOf(crate, "new")), kind: crate, want: "new"},
		}},
		"kind that is not published": {steps: []step{
			{do: publish(boxes, documentOf(box, "old")), kind: crate, want: kindless, took: publishWait},
			{do: nothing, kind: crate, want: kindless},
			{do: nothing, after: time.Hour, kind: crate, want: kindless},
			{do: nothing, kind: box, want: "old"},
		}},
		"kind of another group version": {steps: []step{
			{do: publish(boxes, documentOf(configMap, "old")), kind: schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "ConfigMap"}, want: kindless, took: publishWait},
		}},
		"kind of another version": {steps: []step{
			{do: publish(boxes, documentOf(schema.GroupVersionKind{Group: "example.com", Version: "v2", Kind: "Box"}, "old")), kind: box, want: kindless, took: publishWait},
		}},
		"kind that is not published, in a changed document": {steps: []step{
			{do: publish(boxes, documentOf(box, "old")), kind: crate, want: kindless, took: publishWait},
			{do: publish(boxes, documentOf(box, "new")), after: poll, kind: crate, want: kindless, took: publishWait},
		}},
		"built-in kind that is not published": {steps: []step{
			{do: publish("api/v1", documentOf(configMap, "old")), kind: configMap.GroupVersion().WithKind("Scale"), want: kindless},
		}},
		"group version that is never published": {steps: []step{
			{do: nothing, kind: box, want: none, took: publishWait},
			{do: nothing, kind: box, want: none},
			{do: nothing, after: 30 * time.Second, kind: box, want: none},
			{do: nothing, after: 2 * time.Minute, kind: box, want: none, took: publishWait},
		}},
		"missing, published, gone and back": {steps: []step{
			{do: nothing, kind: box, want: none, took: publishWait},
			{do: publish(boxes, documentOf(box, "old")), after: poll, kind: box, want: "old"},
			{do: func(s *server) { s.withdraw(boxes) }, after: poll},
			{do: publish(boxes, documentOf(box, "new")), kind: box, want: "new"},
		}},
		"other paths": {steps: []step{
			{do: func(s *server) {
				for _, path := range []string{"api", "apis", "version", "apis/example.com", "apis/example.com/v1/boxes", "openid/v1/jwks", "api/v1/boxes"} {
					s.publish(path, documentOf(box, "old"))
				}
			}, kind: box, want: none, took: publishWait},
		}},
		"unreadable": {steps: []step{{do: publish(boxes, `{"components": []}`), kind: box, want: none, took: publishWait}}},
		"null":       {steps: []step{{do: publish(boxes, `{"components": {"schemas": {"it": null}}}`), kind: box, want: none, took: publishWait}}},
		"empty":      {steps: []step{{do: publish(boxes, `{}`), kind: box, want: kindless, took: publishWait}}},
		"kinds that are none": {steps: []step{
			{do: publish(boxes, `{"components": {"schemas": {"a": {"x-kubernetes-group-version-kind": "Box"}, "b": {"x-kubernetes-group-version-kind": ["Box", {"kind": 1}]}}}}`), kind: box, want: kindless, took: publishWait},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &server{slow: tc.slow}
				source, _ := start(t, s)
				for _, step := range tc.steps {
					time.Sleep(time.Second)
					step.do(s)
					time.Sleep(step.after)
					synctest.Wait()
					if step.want != "" {
						expect(t, source, step.kind, step.want, step.took)
					}
				}
			})
		})
	}
}

// A custom resource is published some time after it is served. Requests wait for it at most
// publishWait.
func TestPublishedLater(t *testing.T) {
	for later, want := range map[time.Duration]struct {
		answer string
		took   time.Duration
	}{
		0:                       {"old", 0},
		100 * time.Millisecond:  {"old", pause},
		pause + tick:            {"old", 2 * pause},
		1700 * time.Millisecond: {"old", 4 * pause},
		2600 * time.Millisecond: {none, publishWait},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := &server{}
			source, _ := start(t, s)
			time.Sleep(time.Second)
			time.AfterFunc(later, func() { s.publish(boxes, documentOf(box, "old")) })
			synctest.Wait()
			expect(t, source, box, want.answer, want.took)
		})
	}
}

// Requests cause at most two polls per second, and none for kinds that are known to be missing.
func TestAsksSeldom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &server{}
		source, _ := start(t, s)
		var requests sync.WaitGroup
		for i := range 300 {
			requests.Go(func() {
				time.Sleep(time.Duration(i) * 100 * time.Millisecond)
				kind := box
				if i%3 == 0 {
					kind.Group = string(rune('a'+i/30)) + ".example.com"
				}
				ask(source, kind)
			})
		}
		requests.Wait()
		polls, _ := s.requests()
		for i, poll := range polls[1:] {
			if since := poll.Sub(polls[i]); since < pause {
				t.Fatalf("poll %d came %v after the one before", i+1, since)
			}
		}
		if len(polls) < 30 {
			t.Errorf("polled %d times in half a minute in which new kinds were asked for", len(polls))
		}
		for range 200 {
			expect(t, source, box, none, 0)
			time.Sleep(100 * time.Millisecond)
		}
		if more, _ := s.requests(); len(more)-len(polls) > 5 {
			t.Errorf("polled %d times in 20 seconds for kinds that are known to be missing", len(more)-len(polls))
		}
	})
}

// The first requests wait for the server, even if it does not answer at first.
func TestStart(t *testing.T) {
	for down, want := range map[time.Duration]struct {
		answer string
		took   time.Duration
	}{
		0:                       {"old", 0},
		1200 * time.Millisecond: {"old", 3 * pause},
		time.Minute:             {none, publishWait},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := &server{down: down > 0}
			s.publish(boxes, documentOf(box, "old"))
			time.AfterFunc(down, func() { s.set(func() { s.down = false }) })
			source, _ := start(t, s)
			synctest.Wait()
			expect(t, source, box, want.answer, want.took)
			if want.answer == none {
				expect(t, source, box, none, publishWait)
			}
			time.Sleep(down + poll)
			synctest.Wait()
			expect(t, source, box, "old", 0)
		})
	}
}

// While the server does not answer, the types do not change.
func TestOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &server{}
		s.publish(boxes, documentOf(box, "old"))
		source, _ := start(t, s)
		expect(t, source, box, "old", 0)
		s.set(func() { s.down = true })
		s.publish(boxes, documentOf(box, "new"))
		time.Sleep(3 * poll)
		synctest.Wait()
		expect(t, source, box, "old", 0)
		s.set(func() { s.down = false })
		time.Sleep(poll)
		synctest.Wait()
		expect(t, source, box, "new", 0)
	})
}

// A document that cannot be read is requested again, once for all requests.
func TestUnreadable(t *testing.T) {
	for broken, want := range map[time.Duration]struct {
		answer string
		took   time.Duration
		reads  int
	}{
		700 * time.Millisecond: {"old", 2 * pause, 3},
		time.Minute:            {none, publishWait, 5},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := &server{broken: true}
			s.publish(boxes, documentOf(box, "old"))
			time.AfterFunc(broken, func() { s.set(func() { s.broken = false }) })
			source, _ := start(t, s)
			var requests sync.WaitGroup
			for range 20 {
				requests.Go(func() { expect(t, source, box, want.answer, want.took) })
			}
			requests.Wait()
			// The poll at the end of this time may or may not have happened.
			if _, reads := s.requests(); reads != want.reads && reads != want.reads+1 {
				t.Errorf("read %d times, want %d", reads, want.reads)
			}
			if want.answer == none {
				expect(t, source, box, none, 0)
			}
			time.Sleep(broken + poll)
			synctest.Wait()
			expect(t, source, box, "old", 0)
		})
	}
}

// Requests wait for a slow document for a limited time, but it is read to the end.
func TestSlow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &server{slow: 8 * time.Second}
		s.publish(boxes, documentOf(box, "old"))
		source, _ := start(t, s)
		synctest.Wait()
		expect(t, source, box, none, 5*time.Second)
		expect(t, source, box, "old", 3*time.Second)
		if _, reads := s.requests(); reads != 1 {
			t.Errorf("read %d times, want once", reads)
		}
	})
}

// A document that does not arrive is requested again.
func TestHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &server{slow: time.Hour}
		s.publish(boxes, documentOf(box, "old"))
		source, _ := start(t, s)
		synctest.Wait()
		expect(t, source, box, none, 5*time.Second)
		s.set(func() { s.slow = 0 })
		time.Sleep(5*time.Second + poll)
		synctest.Wait()
		expect(t, source, box, "old", 0)
	})
}

// When Run ends, requests stop waiting, and types that were read remain available.
func TestEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &server{slow: time.Second}
		s.publish(boxes, documentOf(box, "old"))
		source, stop := start(t, s)
		expect(t, source, box, "old", time.Second)
		slow := schema.GroupVersionKind{Group: "slow.example.com", Version: "v1", Kind: "Box"}
		s.publish("apis/slow.example.com/v1", documentOf(slow, "old"))
		time.AfterFunc(300*time.Millisecond, stop)
		var requests sync.WaitGroup
		requests.Go(func() { expect(t, source, slow, none, 300*time.Millisecond) })
		requests.Go(func() { expect(t, source, box.GroupVersion().WithKind("Crate"), kindless, 300*time.Millisecond) })
		requests.Wait()
		before, _ := s.requests()
		expect(t, source, slow, none, 0)
		expect(t, source, box, "old", 0)
		time.Sleep(time.Hour)
		if after, _ := s.requests(); len(after) != len(before) {
			t.Error("polled after the end")
		}
	})
}

// If Run is never called, requests wait as before the first poll.
func TestNotRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		source := newSource(&server{})
		expect(t, source, box, none, publishWait)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		source.Run(ctx)
		expect(t, source, box, none, 0)
	})
}
