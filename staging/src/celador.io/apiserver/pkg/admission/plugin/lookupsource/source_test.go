// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package lookupsource_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	clienttesting "k8s.io/client-go/testing"
	cachetesting "k8s.io/client-go/tools/cache/testing"
	"k8s.io/component-base/metrics/legacyregistry"

	"celador.io/admission/lookups"

	"celador.io/apiserver/pkg/admission/plugin/lookupsource"
	"celador.io/apiserver/pkg/admission/plugin/paramsource"
	"celador.io/apiserver/pkg/admission/plugin/policymetrics"
)

var (
	configMaps = corev1.SchemeGroupVersion.WithKind("ConfigMap")
	limits     = schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Limit"}
)

// discovery serves config maps, reviews and statuses, which cannot be watched, and limits if the
// field is set.
type discovery struct {
	limits, namespaced atomic.Bool
	calls              atomic.Int32
}

// ServerResourcesForGroupVersionWithContext implements paramsource.Discovery.
func (d *discovery) ServerResourcesForGroupVersionWithContext(_ context.Context, version string) (*metav1.APIResourceList, error) {
	d.calls.Add(1)
	switch {
	case version == "v1":
		return &metav1.APIResourceList{APIResources: []metav1.APIResource{
			{Name: "configmaps", Kind: "ConfigMap", Namespaced: true, Verbs: metav1.Verbs{"get", "list", "watch"}},
			{Name: "reviews", Kind: "Review", Verbs: metav1.Verbs{"create"}},
			{Name: "statuses", Kind: "Status", Verbs: metav1.Verbs{"list"}},
		}}, nil
	case d.limits.Load():
		return &metav1.APIResourceList{APIResources: []metav1.APIResource{{Name: "limits", Kind: "Limit", Namespaced: d.namespaced.Load(), Verbs: metav1.Verbs{"list", "watch"}}}}, nil
	default:
		return nil, apierrors.NewNotFound(schema.GroupResource{Resource: version}, "")
	}
}

// byName is an index of objects by their names.
type byName string

// Text implements lookups.Indexer.
func (b byName) Text() string { return string(b) }

// Keys implements lookups.Indexer.
func (byName) Keys(object runtime.Object) ([]string, error) {
	return []string{object.(metav1.Object).GetName()}, nil
}

// A fixture is a source whose config maps are stored, and whose other kinds are read with requests.
type fixture struct {
	*lookupsource.Source
	discovery discovery
	stored    *cachetesting.FakeControllerSource
	// outdated closes the channel in found, which find returns for config maps.
	outdated func()
	found    atomic.Pointer[lookupsource.Found]
	// findErr holds the error of find, and finds counts its calls.
	findErr atomic.Value
	finds   atomic.Int32
	client  *dynamicfake.FakeDynamicClient
	served  chan struct{}
}

// storage is read like the storage of a server, which has no watches with initial events.
type storage struct {
	*cachetesting.FakeControllerSource
}

// IsWatchListSemanticsUnSupported is asked by reflectors.
func (storage) IsWatchListSemanticsUnSupported() bool { return true }

// A failure holds an error, or nil.
type failure struct{ error }

// find is a lookupsource.Find.
func (f *fixture) find(_ context.Context, kind schema.GroupVersionKind, _ paramsource.Resource) (lookupsource.Found, error) {
	f.finds.Add(1)
	if err, _ := f.findErr.Load().(failure); err.error != nil {
		return lookupsource.Found{}, err.error
	}
	if kind == configMaps {
		return *f.found.Load(), nil
	}
	return lookupsource.Found{}, nil
}

// store makes the config maps found in stored from now on.
func (f *fixture) store(stored *cachetesting.FakeControllerSource) {
	outdated := make(chan struct{})
	before := f.outdated
	f.stored, f.outdated = stored, func() { close(outdated) }
	f.found.Store(&lookupsource.Found{ListerWatcher: storage{stored}, Outdated: outdated})
	if before != nil {
		before()
	}
}

// inBubble calls test with a fixture in a bubble, whose time passes when all goroutines wait.
func inBubble(t *testing.T, test func(*testing.T, *fixture)) {
	synctest.Test(t, func(t *testing.T) {
		f := &fixture{served: make(chan struct{})}
		f.store(cachetesting.NewFakeControllerSource())
		f.client = dynamicfake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(), map[schema.GroupVersionResource]string{
			limits.GroupVersion().WithResource("limits"): "LimitList",
		})
		stop := make(chan struct{})
		f.Source = lookupsource.New(&f.discovery, f.client, f.find, f.served, stop)
		test(t, f)
		close(stop)
		synctest.Wait() // a closed storage blocks its readers
		f.stored.Shutdown()
		synctest.Wait()
	})
}

func configMap(name string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "blue", Name: name}}
}

// has reports whether the present state of a handle has an object, by name and by index.
func has(t *testing.T, h lookups.Handle, namespace, name string) bool {
	t.Helper()
	state, err := h.State(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	found := state.Get(namespace, name) != nil
	if indexed, ok := state.Indexed("name", "", name); !ok || (len(indexed) > 0) != found {
		t.Errorf("the index has %v for %s, which is there: %t", indexed, name, found)
	}
	return found
}

func TestStoredObjects(t *testing.T) {
	inBubble(t, func(t *testing.T, f *fixture) {
		f.stored.Add(configMap("first"))
		h := f.Open(configMaps, byName("name"))
		if err := f.Synced(); err == nil || !strings.Contains(err.Error(), "not known yet") {
			t.Errorf("before the server serves its paths: %v", err)
		}
		close(f.served)
		if !has(t, h, "blue", "first") || f.Synced() != nil {
			t.Error("the listed object is missing")
		}
		f.stored.Add(configMap("second"))
		synctest.Wait()
		if !has(t, h, "blue", "second") {
			t.Error("the created object is missing")
		}
		f.stored.Delete(configMap("first"))
		synctest.Wait()
		if has(t, h, "blue", "first") {
			t.Error("the deleted object is there")
		}
	})
}

// A kind that is not served fails at once, and is found when it is served.
func TestKindThatAppears(t *testing.T) {
	inBubble(t, func(t *testing.T, f *fixture) {
		close(f.served)
		h := f.Open(limits, byName("name"))
		synctest.Wait()
		begin := time.Now()
		if _, err := h.State(t.Context()); !apierrors.IsNotFound(err) || time.Since(begin) > 0 {
			t.Errorf("got error %v after %v", err, time.Since(begin))
		}
		if err := f.Synced(); err != nil {
			t.Errorf("a kind that is not served keeps the server from being ready: %v", err)
		}
		limit := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "example.com/v1", "kind": "Limit", "metadata": map[string]any{"name": "l"}}}
		if _, err := f.client.Resource(limits.GroupVersion().WithResource("limits")).Create(t.Context(), limit, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		f.discovery.limits.Store(true)
		time.Sleep(2 * time.Second)
		if !has(t, h, "", "l") {
			t.Error("the object is missing")
		}
		f.discovery.limits.Store(false)
		time.Sleep(11 * time.Second)
		if _, err := h.State(t.Context()); !apierrors.IsNotFound(err) {
			t.Errorf("the kind is gone: got error %v", err)
		}
	})
}

// When the storage of a kind is replaced, its objects are known all the time, and those of the new
// storage soon.
func TestReplacedStorage(t *testing.T) {
	inBubble(t, func(t *testing.T, f *fixture) {
		close(f.served)
		f.stored.Add(configMap("old"))
		h := f.Open(configMaps, byName("name"))
		if !has(t, h, "blue", "old") {
			t.Error("the listed object is missing")
		}
		before := f.stored
		defer before.Shutdown()
		replaced := cachetesting.NewFakeControllerSource()
		replaced.ListError = errors.New("storage is opened")
		f.store(replaced)
		synctest.Wait()
		begin := time.Now()
		if !has(t, h, "blue", "old") || f.Synced() != nil || time.Since(begin) > 0 {
			t.Error("the objects are not known until they are listed again")
		}
		before.Add(configMap("late"))
		synctest.Wait()
		if has(t, h, "blue", "late") {
			t.Error("the old storage is still watched")
		}
		replaced.ListError = nil
		replaced.Add(configMap("new"))
		time.Sleep(10 * time.Second) // reflectors repeat a list that failed
		if !has(t, h, "blue", "new") || has(t, h, "blue", "old") {
			t.Error("the objects are not those of the new storage")
		}
	})
}

// Where the objects are to be found can be unknown for a while: what is followed stays.
func TestUnknownStorage(t *testing.T) {
	inBubble(t, func(t *testing.T, f *fixture) {
		close(f.served)
		f.stored.Add(configMap("a"))
		f.findErr.Store(failure{errors.New("discovery is late")})
		h := f.Open(configMaps, byName("name"))
		if _, err := h.State(t.Context()); err == nil || err.Error() != "discovery is late" {
			t.Errorf("got error %v", err)
		}
		f.findErr.Store(failure{})
		time.Sleep(time.Second)
		if !has(t, h, "blue", "a") {
			t.Error("the object is missing")
		}
		calls := f.finds.Load()
		f.findErr.Store(failure{errors.New("discovery is late")})
		f.outdated()
		time.Sleep(10 * time.Second)
		if !has(t, h, "blue", "a") {
			t.Error("the object is missing while its storage is not known")
		}
		if n := f.finds.Load() - calls; n > 20 {
			t.Errorf("looked %d times in 10 seconds", n)
		}
		f.findErr.Store(failure{apierrors.NewNotFound(schema.GroupResource{Resource: "configmaps"}, "")})
		time.Sleep(2 * time.Second)
		if _, err := h.State(t.Context()); !apierrors.IsNotFound(err) {
			t.Errorf("the kind is gone: got error %v", err)
		}
	})
}

// A resource that is read by requests and replaced by one of another scope is followed soon after
// its watch has failed, although discovery is late.
func TestReplacedResource(t *testing.T) {
	inBubble(t, func(t *testing.T, f *fixture) {
		close(f.served)
		f.discovery.limits.Store(true)
		watched := make(chan *watch.FakeWatcher, 10)
		f.client.PrependWatchReactor("limits", func(clienttesting.Action) (bool, watch.Interface, error) {
			w := watch.NewFake()
			watched <- w
			return true, w, nil
		})
		h := f.Open(limits, nil)
		state, err := h.State(t.Context())
		if err != nil || state.Namespaced() {
			t.Fatalf("got %v, %v, want objects without namespaces", state, err)
		}
		// Discovery is repeated every ten seconds by then, and was three seconds ago or less.
		begin := f.discovery.calls.Load()
		for last := begin; f.discovery.calls.Load() < begin+20 || f.discovery.calls.Load() == last; time.Sleep(3 * time.Second) {
			last = f.discovery.calls.Load()
		}
		(<-watched).Error(&apierrors.NewResourceExpired("the storage was replaced").ErrStatus)
		synctest.Wait()
		time.Sleep(time.Second)
		f.discovery.namespaced.Store(true)
		time.Sleep(4 * time.Second)
		if state, err := h.State(t.Context()); err != nil || !state.Namespaced() {
			t.Errorf("got %v, %v, want objects in namespaces", state, err)
		}
	})
}

// A kind that cannot be listed or watched fails at once, and keeps no server from being ready.
func TestKindWithoutVerbs(t *testing.T) {
	for kind, want := range map[string]string{
		"Review": `resource reviews has no verb list, so that no policy can read its objects: no matches for kind "Review" in version "v1"`,
		"Status": `resource statuses has no verb watch, so that no policy can read its objects: no matches for kind "Status" in version "v1"`,
	} {
		t.Run(kind, func(t *testing.T) {
			inBubble(t, func(t *testing.T, f *fixture) {
				close(f.served)
				h := f.Open(corev1.SchemeGroupVersion.WithKind(kind), nil)
				synctest.Wait()
				begin := time.Now()
				if _, err := h.State(t.Context()); err == nil || err.Error() != want || time.Since(begin) > 0 {
					t.Errorf("got error %v after %v, want %s at once", err, time.Since(begin), want)
				}
				if err := f.Synced(); err != nil {
					t.Errorf("the server is not ready: %v", err)
				}
			})
		})
	}
}

// Requests wait up to a second for the first list, and not longer than their own time.
func TestStateWaits(t *testing.T) {
	inBubble(t, func(t *testing.T, f *fixture) {
		h := f.Open(configMaps, nil)
		begin := time.Now()
		if _, err := h.State(t.Context()); err == nil || time.Since(begin) != time.Second {
			t.Errorf("got error %v after %v", err, time.Since(begin))
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		begin = time.Now()
		if _, err := h.State(ctx); err == nil || time.Since(begin) != time.Millisecond {
			t.Errorf("with a deadline: got error %v after %v", err, time.Since(begin))
		}
		time.AfterFunc(500*time.Millisecond, func() { close(f.served) })
		begin = time.Now()
		if _, err := h.State(t.Context()); err != nil || time.Since(begin) != 500*time.Millisecond {
			t.Errorf("listed meanwhile: got error %v after %v", err, time.Since(begin))
		}
	})
}

// Users share a kind and its indexes, which stay for a while after the last has closed them.
func TestClose(t *testing.T) {
	inBubble(t, func(t *testing.T, f *fixture) {
		close(f.served)
		f.stored.Add(configMap("a"))
		first, second := f.Open(configMaps, byName("name")), f.Open(configMaps, byName("name"))
		if !has(t, first, "blue", "a") || !has(t, second, "blue", "a") {
			t.Error("the object is missing")
		}
		first.Close()
		first.Close()
		time.Sleep(2 * time.Minute)
		if !has(t, second, "blue", "a") {
			t.Error("closing one handle closes the other")
		}
		second.Close()
		time.Sleep(30 * time.Second)
		if !has(t, second, "blue", "a") {
			t.Error("requests that have begun cannot read any more")
		}
		time.Sleep(time.Minute)
		f.Kinds(func(kind schema.GroupVersionKind, _ *lookups.State, _ error) {
			t.Errorf("%v is followed after it was closed", kind)
		})
		if _, err := second.State(t.Context()); err == nil {
			t.Error("the index outlives its users")
		}
	})
}

func TestBrokenStorage(t *testing.T) {
	inBubble(t, func(t *testing.T, f *fixture) {
		close(f.served)
		f.stored.ListError = errors.New("storage is down")
		h := f.Open(configMaps, nil)
		if _, err := h.State(t.Context()); err == nil || err.Error() != "the objects are not known yet" {
			t.Errorf("got error %v", err)
		}
		if f.Synced() == nil {
			t.Error("the server is ready without the objects")
		}
	})
}

// Objects that cannot be read for ten seconds are an error, with the reason, until they are read
// again.
func TestObjectsThatCannotBeRead(t *testing.T) {
	broken := errors.New("an object does not convert")
	for name, test := range map[string]struct{ fail, mend func(*testing.T, *fixture) }{
		"the watch and lists fail": {
			fail: func(_ *testing.T, f *fixture) {
				f.stored.ListError = broken
				f.stored.Broadcaster.Action(watch.Error, &metav1.Status{Status: metav1.StatusFailure, Message: broken.Error()})
			},
			mend: func(_ *testing.T, f *fixture) { f.stored.ListError = nil },
		},
		"the next storage is not found": {
			fail: func(_ *testing.T, f *fixture) {
				f.findErr.Store(failure{broken})
				f.outdated()
			},
			mend: func(t *testing.T, f *fixture) {
				f.outdated = nil
				f.store(f.stored)
				f.findErr.Store(failure{})
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, f *fixture) {
				close(f.served)
				f.stored.Add(configMap("a"))
				h := f.Open(configMaps, byName("name"))
				if !has(t, h, "blue", "a") {
					t.Error("the listed object is missing")
				}
				time.Sleep(time.Minute) // the watch lives for longer than failures may
				if !has(t, h, "blue", "a") {
					t.Error("the object is missing while nothing changes")
				}
				test.fail(t, f)
				begin := time.Now()
				// poll returns the error of State as soon as it is one, or as soon as there is
				// none.
				poll := func(fails bool, limit time.Duration) error {
					for end := time.Now().Add(limit); ; time.Sleep(100 * time.Millisecond) {
						if _, err := h.State(t.Context()); (err != nil) == fails || time.Now().After(end) {
							return err
						}
					}
				}
				err := poll(true, 12*time.Second)
				want := fmt.Sprintf("the objects of ConfigMap cannot be read since %s: %v", begin.UTC().Format(time.RFC3339), broken)
				if !errors.Is(err, broken) || err.Error() != want {
					t.Errorf("got error %v, want %s", err, want)
				}
				if after := time.Since(begin); after < 10*time.Second {
					t.Errorf("objects that were read %v ago are an error", after)
				}
				f.Kinds(func(_ schema.GroupVersionKind, _ *lookups.State, err error) {
					if !errors.Is(err, broken) {
						t.Errorf("the kind has error %v", err)
					}
				})
				test.mend(t, f)
				if err := poll(false, 2*time.Minute); err != nil {
					t.Fatalf("the objects are read again: %v", err)
				}
				time.Sleep(time.Minute)
				if !has(t, h, "blue", "a") {
					t.Error("the object is missing after a failure")
				}
			})
		})
	}
}

// A watch that cannot be opened for a while needs no list, nor an event, to have recovered.
func TestWatchThatCannotBeOpened(t *testing.T) {
	inBubble(t, func(t *testing.T, f *fixture) {
		close(f.served)
		f.discovery.limits.Store(true)
		var down atomic.Bool
		watched := make(chan *watch.FakeWatcher, 10)
		f.client.PrependWatchReactor("limits", func(clienttesting.Action) (bool, watch.Interface, error) {
			if down.Load() {
				return true, nil, syscall.ECONNREFUSED
			}
			w := watch.NewFake()
			watched <- w
			return true, w, nil
		})
		h := f.Open(limits, nil)
		if _, err := h.State(t.Context()); err != nil {
			t.Fatal(err)
		}
		time.Sleep(5 * time.Second)
		down.Store(true)
		(<-watched).Stop()
		time.Sleep(15 * time.Second)
		if _, err := h.State(t.Context()); !errors.Is(err, syscall.ECONNREFUSED) {
			t.Errorf("got error %v, want that the connection is refused", err)
		}
		down.Store(false)
		time.Sleep(2 * time.Minute)
		if _, err := h.State(t.Context()); err != nil {
			t.Errorf("the watch is open: %v", err)
		}
	})
}

// slow is an index whose keys take a time to compute.
type slow struct{ byName }

// Keys implements lookups.Indexer.
func (s slow) Keys(object runtime.Object) ([]string, error) {
	time.Sleep(400 * time.Millisecond)
	return s.byName.Keys(object)
}

// A new index of many objects delays no request and no change, except for requests that need it.
func TestSlowIndex(t *testing.T) {
	inBubble(t, func(t *testing.T, f *fixture) {
		close(f.served)
		for _, name := range []string{"a", "b", "c", "d", "e"} {
			f.stored.Add(configMap(name))
		}
		first := f.Open(configMaps, byName("name"))
		synctest.Wait()
		begin := time.Now()
		second, third := f.Open(configMaps, slow{"slow"}), f.Open(configMaps, slow{"slow"})
		f.stored.Add(configMap("new"))
		if !has(t, first, "blue", "a") || time.Since(begin) > 0 {
			t.Errorf("the other index was read after %v", time.Since(begin))
		}
		if err := f.Synced(); err == nil || !strings.Contains(err.Error(), "the index is not known yet") {
			t.Errorf("the server is ready: %v", err)
		}
		if _, err := second.State(t.Context()); err == nil || err.Error() != "the index is not known yet" || time.Since(begin) != time.Second {
			t.Errorf("got error %v after %v", err, time.Since(begin))
		}
		time.Sleep(time.Second)
		for _, h := range []lookups.Handle{second, third} {
			state, err := h.State(t.Context())
			if err != nil || time.Since(begin) > 2400*time.Millisecond {
				t.Fatalf("got error %v after %v", err, time.Since(begin))
			}
			for _, name := range []string{"a", "new"} {
				if found, _ := state.Indexed("slow", "blue", name); len(found) != 1 {
					t.Errorf("the index has %v for %s", found, name)
				}
			}
		}
		if err := f.Synced(); err != nil {
			t.Error(err)
		}
		// Changes wait for the keys of the new object only.
		f.stored.Add(configMap("later"))
		synctest.Wait()
		time.Sleep(400 * time.Millisecond)
		synctest.Wait()
		if !has(t, first, "blue", "later") {
			t.Error("the created object is missing")
		}
	})
}

// The time of a change includes that of its keys.
func TestTimeOfChanges(t *testing.T) {
	policymetrics.ForgetLookupChanges(configMaps) // those of other tests
	inBubble(t, func(t *testing.T, f *fixture) {
		close(f.served)
		h := f.Open(configMaps, slow{"slow"})
		if _, err := h.State(t.Context()); err != nil {
			t.Fatal(err)
		}
		synctest.Wait() // until the objects are watched
		f.stored.Add(configMap("a"))
		time.Sleep(time.Second)
		f.stored.Delete(configMap("a"))
		synctest.Wait()
		if got, want := changes(t), "2 changes, 400ms"; got != want {
			t.Errorf("measured %s, want %s", got, want)
		}
		h.Close()
		time.Sleep(2 * time.Minute)
		if got := changes(t); got != "" {
			t.Errorf("measured %s of a kind that nobody looks up", got)
		}
	})
}

// changes returns the number and the time of the measured changes of config maps.
func changes(t *testing.T) string {
	t.Helper()
	families, err := legacyregistry.DefaultGatherer.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, family := range families {
		if family.GetName() != "celador_admission_policy_lookup_change_duration_seconds" {
			continue
		}
		for _, metric := range family.GetMetric() {
			for _, label := range metric.GetLabel() {
				if label.GetName() == "lookup_kind" && label.GetValue() == "ConfigMap" {
					h := metric.GetHistogram()
					return fmt.Sprintf("%d changes, %v", h.GetSampleCount(), time.Duration(h.GetSampleSum()*float64(time.Second)))
				}
			}
		}
	}
	return ""
}

// A counted is an index whose keys take a time to compute, and that counts calls of Keys.
type counted struct {
	slow
	calls *calls
}

// calls counts calls: all, those that have not returned, and the most of these.
type calls struct{ all, present, most atomic.Int32 }

// Keys implements lookups.Indexer.
func (c counted) Keys(object runtime.Object) ([]string, error) {
	c.calls.all.Add(1)
	present := c.calls.present.Add(1)
	for most := c.calls.most.Load(); present > most && !c.calls.most.CompareAndSwap(most, present); {
		most = c.calls.most.Load()
	}
	defer c.calls.present.Add(-1)
	return c.slow.Keys(object)
}

// A policy that is changed often has the keys of few indexes computed at the same time, and not
// those of indexes that are closed before. An index that is opened again is computed.
func TestManyIndexes(t *testing.T) {
	inBubble(t, func(t *testing.T, f *fixture) {
		close(f.served)
		for _, name := range []string{"a", "b", "c", "d", "e"} {
			f.stored.Add(configMap(name))
		}
		f.Open(configMaps, nil)
		synctest.Wait()
		calls := &calls{}
		index := func(i int) lookups.Indexer {
			return counted{slow{byName(fmt.Sprint("index ", i))}, calls}
		}
		for i := range 50 {
			f.Open(configMaps, index(i)).Close()
		}
		begin := time.Now()
		for _, i := range []int{50, 49} {
			h := f.Open(configMaps, index(i))
			time.Sleep(5 * time.Second)
			if _, err := h.State(t.Context()); err != nil {
				t.Errorf("index %d after %v: %v", i, time.Since(begin), err)
			}
		}
		if err := f.Synced(); err != nil {
			t.Errorf("closed indexes keep the server from being ready: %v", err)
		}
		if most, all := calls.most.Load(), calls.all.Load(); most > 2 || all > 20 {
			t.Errorf("%d objects at the same time and %d in all had their keys computed, want 2 and 20 at most", most, all)
		}
		time.Sleep(2 * time.Minute)
	})
}

// The keys of objects that are not followed any more are not computed.
func TestIndexOfAKindThatDisappears(t *testing.T) {
	inBubble(t, func(t *testing.T, f *fixture) {
		close(f.served)
		f.discovery.limits.Store(true)
		for i := range 100 {
			limit := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "example.com/v1", "kind": "Limit", "metadata": map[string]any{"name": fmt.Sprint(i)}}}
			if _, err := f.client.Resource(limits.GroupVersion().WithResource("limits")).Create(t.Context(), limit, metav1.CreateOptions{}); err != nil {
				t.Fatal(err)
			}
		}
		f.Open(limits, nil)
		synctest.Wait()
		calls := &calls{}
		f.Open(limits, counted{slow{"slow"}, calls})
		f.discovery.limits.Store(false)
		time.Sleep(15 * time.Second)
		if all := calls.all.Load(); all == 0 || all > 30 || calls.present.Load() > 0 {
			t.Errorf("the keys of %d objects were computed, want those of the first 10 seconds", all)
		}
	})
}

// Kinds tells for each open kind what is known.
func TestKinds(t *testing.T) {
	inBubble(t, func(t *testing.T, f *fixture) {
		f.stored.Add(configMap("a"))
		f.Open(configMaps, byName("name"))
		f.Open(limits, nil)
		kinds := func() string {
			found := map[string]string{}
			f.Kinds(func(kind schema.GroupVersionKind, state *lookups.State, err error) {
				switch {
				case err == nil:
					found[kind.Kind] = fmt.Sprint(state.Len(""), " objects")
				case paramsource.NotServed(err):
					found[kind.Kind] = "not served"
				default:
					found[kind.Kind] = err.Error()
				}
			})
			return fmt.Sprint(found)
		}
		if got, want := kinds(), "map[ConfigMap:the objects are not known yet Limit:the objects are not known yet]"; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
		close(f.served)
		synctest.Wait()
		if got, want := kinds(), "map[ConfigMap:1 objects Limit:not served]"; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	})
}
