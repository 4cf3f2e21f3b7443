// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package customresources

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/watch"

	"celador.io/celador/test/integration/testserver"
)

const (
	// increments is how many increments TestStorageFlips writes. CELADOR_INCREMENTS overrides it.
	increments = 500
	// counters is how many objects are incremented, each by one writer in each version.
	counters = 8
	// flipInterval is the time between two changes of the storage version.
	flipInterval = time.Second
)

// Clients of all versions increment the same objects while the storage version changes all the
// time. No increment is lost, watches see every one of them in order, and resource versions grow.
func TestStorageFlips(t *testing.T) {
	total := int64(increments)
	if text := os.Getenv("CELADOR_INCREMENTS"); text != "" {
		total = testserver.Must(strconv.ParseInt(text, 10, 64))(t)
	}
	group := defineRuled(t, admin, "v1")
	for i := range counters {
		w := ruledWidget(group, "v1", fmt.Sprint("w", i))
		w.Object["spec"] = ruledSpec("v1", "a", 0)
		testserver.Must(in(admin, group, "v1").Create(t.Context(), w, metav1.CreateOptions{}))(t)
	}
	following, cancel := context.WithCancel(t.Context())
	defer cancel()
	var followers sync.WaitGroup
	var followed []*follower
	for _, version := range ruledVersions {
		f := &follower{group: group, version: version, total: total, counts: map[string]int64{}}
		followed = append(followed, f)
		if err := f.list(following); err != nil {
			t.Fatal(err)
		}
		followers.Go(func() {
			if err := f.follow(following); err != nil {
				t.Errorf("watch in %s: %v", version, err)
			}
		})
	}

	start := time.Now()
	var writers sync.WaitGroup
	var begun, conflicts atomic.Int64
	for i := range counters {
		for _, version := range ruledVersions {
			writers.Go(func() {
				for begun.Add(1) <= total {
					failed, err := increment(t.Context(), group, version, fmt.Sprint("w", i))
					conflicts.Add(failed)
					if err != nil {
						t.Errorf("write in %s: %v", version, err)
						return
					}
				}
			})
		}
	}
	written := make(chan struct{})
	go func() {
		defer close(written)
		writers.Wait()
	}()
	flips := 0
	for flipping := true; flipping; {
		select {
		case <-written:
			flipping = false
		case <-time.After(flipInterval):
			flips++
			changeRuled(t, admin, group, func(crd map[string]any) { store(crd, ruledVersions[flips%len(ruledVersions)]) })
		}
	}
	duration := time.Since(start)
	if t.Failed() {
		return
	}
	// A follower that has missed an increment would wait for it.
	time.AfterFunc(deadline, cancel)
	followers.Wait()
	t.Logf("%d increments in %s with %d changes of the storage version and %d conflicts", total, duration.Round(time.Millisecond), flips, conflicts.Load())
	for _, f := range followed {
		t.Logf("watch in %s: %+v", f.version, f.watchStatistics)
	}
	for _, version := range ruledVersions {
		sum := int64(0)
		for _, w := range testserver.Must(in(admin, group, version).List(t.Context(), metav1.ListOptions{}))(t).Items {
			sum += testserver.Must(seconds(&w))(t)
		}
		if sum != total {
			t.Errorf("got %d increments in %s, want %d", sum, version, total)
		}
	}
}

// increment adds a second to a widget. It returns how many writes were in conflict with others.
func increment(ctx context.Context, group, version, name string) (conflicts int64, err error) {
	for {
		w, err := in(admin, group, version).Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return conflicts, err
		}
		count, err := seconds(w)
		if err != nil {
			return conflicts, err
		}
		w.Object["spec"] = ruledSpec(version, "a", count+1)
		if _, err = in(admin, group, version).Update(ctx, w, metav1.UpdateOptions{}); !apierrors.IsConflict(err) {
			return conflicts, err
		}
		conflicts++
	}
}

// seconds returns the timeout of a widget in any version.
func seconds(w *unstructured.Unstructured) (int64, error) {
	if text, ok, _ := unstructured.NestedString(w.Object, "spec", "timeout"); ok {
		timeout, err := time.ParseDuration(text)
		return int64(timeout / time.Second), err
	}
	count, ok, err := unstructured.NestedInt64(w.Object, "spec", "timeoutSeconds")
	if err == nil && !ok {
		err = fmt.Errorf("%s has no timeout in %s", w.GetName(), w.GetAPIVersion())
	}
	return count, err
}

// A follower lists and watches widgets in a version, as an informer does, until it has seen all
// increments. It checks that it misses none.
type follower struct {
	watchStatistics
	group, version string
	total          int64
	// counts holds the timeout of each widget, and resourceVersion that of the last event or list.
	counts          map[string]int64
	resourceVersion uint64
}

func (f *follower) sum() (sum int64) {
	for _, count := range f.counts {
		sum += count
	}
	return sum
}

// advance takes a resource version into account, which must be higher than the one before, or at
// least as high after a list.
func (f *follower) advance(text string, atLeast uint64) error {
	resourceVersion, err := strconv.ParseUint(text, 10, 64)
	if err == nil && resourceVersion < atLeast {
		err = fmt.Errorf("got resource version %d after %d", resourceVersion, f.resourceVersion)
	}
	f.resourceVersion = resourceVersion
	return err
}

func (f *follower) list(ctx context.Context) error {
	list, err := in(admin, f.group, f.version).List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	for i := range list.Items {
		count, err := seconds(&list.Items[i])
		if err != nil {
			return err
		}
		name := list.Items[i].GetName()
		if count < f.counts[name] {
			return fmt.Errorf("list: %s has %d, want at least %d", name, count, f.counts[name])
		}
		f.counts[name] = count
	}
	return f.advance(list.GetResourceVersion(), f.resourceVersion)
}

func (f *follower) follow(ctx context.Context) error {
	for f.sum() < f.total {
		events, err := in(admin, f.group, f.version).Watch(ctx, metav1.ListOptions{ResourceVersion: fmt.Sprint(f.resourceVersion)})
		if err == nil {
			err = f.handle(events)
			events.Stop()
		}
		switch {
		case apierrors.IsResourceExpired(err) || apierrors.IsGone(err):
			f.Expired++
			err = f.list(ctx)
		case err == nil && f.sum() < f.total:
			f.Ended++
		}
		if err != nil {
			return fmt.Errorf("%w, after %+v", err, f.watchStatistics)
		}
	}
	return nil
}

// handle follows a watch until it ends or has seen all increments.
func (f *follower) handle(events watch.Interface) error {
	for event := range events.ResultChan() {
		w, ok := event.Object.(*unstructured.Unstructured)
		if !ok {
			return apierrors.FromObject(event.Object)
		}
		if event.Type != watch.Modified || w.GetAPIVersion() != f.group+"/"+f.version {
			return fmt.Errorf("got event %v", event)
		}
		if err := f.advance(w.GetResourceVersion(), f.resourceVersion+1); err != nil {
			return err
		}
		count, err := seconds(w)
		if err != nil {
			return err
		}
		if want := f.counts[w.GetName()] + 1; count != want {
			return fmt.Errorf("got %d of %s, want %d", count, w.GetName(), want)
		}
		f.Events++
		f.counts[w.GetName()] = count
		if f.sum() == f.total {
			return nil
		}
	}
	return nil
}
