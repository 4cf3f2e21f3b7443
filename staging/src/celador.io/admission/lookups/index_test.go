// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package lookups_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/klog/v2"

	"celador.io/admission/lookups"
)

// slow is an index whose first call of Keys waits.
type slow struct {
	byData
	once             sync.Once
	started, proceed chan struct{}
}

// Keys implements lookups.Indexer.
func (s *slow) Keys(object runtime.Object) ([]string, error) {
	s.once.Do(func() {
		close(s.started)
		<-s.proceed
	})
	return s.byData.Keys(object)
}

// While the keys of a new index are computed, objects change and states are read. The index has the
// changes afterwards.
func TestObjectsChangeWhileAnIndexIsFilled(t *testing.T) {
	set := func(t *testing.T, o *lookups.ObjectCache, present map[string]*corev1.ConfigMap, c *corev1.ConfigMap) {
		present[name(c)] = c
		if err := o.Set(c); err != nil {
			t.Fatal(err)
		}
	}
	for title, change := range map[string]func(*testing.T, *lookups.ObjectCache, map[string]*corev1.ConfigMap){
		"set": func(t *testing.T, o *lookups.ObjectCache, present map[string]*corev1.ConfigMap) {
			set(t, o, present, configMap("n0", "c0", "b=y"))
			set(t, o, present, configMap("n3", "new", "a=x"))
		},
		"deleted": func(t *testing.T, o *lookups.ObjectCache, present map[string]*corev1.ConfigMap) {
			delete(present, "n1/c1")
			if err := o.Delete(configMap("n1", "c1")); err != nil {
				t.Fatal(err)
			}
		},
		"broken": func(t *testing.T, o *lookups.ObjectCache, present map[string]*corev1.ConfigMap) {
			set(t, o, present, configMap("n0", "c0", "broken=y"))
			set(t, o, present, configMap("n2", "broken", "a=x"))
		},
		"replaced": func(t *testing.T, o *lookups.ObjectCache, present map[string]*corev1.ConfigMap) {
			clear(present)
			c := configMap("n0", "c0", "b=x")
			present[name(c)] = c
			if err := o.Replace([]runtime.Object{c}); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(title, func(t *testing.T) {
			objects := lookups.NewObjectCache(true, klog.Background())
			present := map[string]*corev1.ConfigMap{}
			var all []runtime.Object
			for _, c := range []*corev1.ConfigMap{configMap("n0", "c0", "a=x"), configMap("n1", "c1", "a=y", "b=x"), configMap("n2", "broken", "broken=x")} {
				present[name(c)] = c
				all = append(all, c)
			}
			if err := objects.Replace(all); err != nil {
				t.Fatal(err)
			}
			objects.AddIndex(byData("keys"))
			if got := objects.State().Unindexed(); got != 1 {
				t.Errorf("%d objects have no keys, want 1", got)
			}
			added := &slow{byData: "values", started: make(chan struct{}), proceed: make(chan struct{})}
			fill, filled := objects.StartIndex(added), make(chan struct{})
			go func() {
				defer close(filled)
				fill()
			}()
			<-added.started
			objects.AddIndex(byData("values"))
			if title != "replaced" { // which computes the keys itself
				change(t, objects, present)
				if diff := cmp.Diff(expected(present, false), describe(objects.State())); diff != "" {
					t.Errorf("meanwhile (-want +got):\n%s", diff)
				}
				close(added.proceed)
			} else {
				close(added.proceed)
				change(t, objects, present)
			}
			<-filled
			if diff := cmp.Diff(expected(present, true), describe(objects.State())); diff != "" {
				t.Errorf("afterwards (-want +got):\n%s", diff)
			}
			unindexed := 0
			for _, c := range present {
				if _, broken := c.Data["broken"]; broken {
					unindexed += 2
				}
			}
			if got := objects.State().Unindexed(); got != unindexed {
				t.Errorf("%d times, an object has no keys, want %d", got, unindexed)
			}
		})
	}
}

// slowForNew is an index that waits in Keys for the object "new".
type slowForNew struct {
	byData
	started, proceed chan struct{}
}

// Keys implements lookups.Indexer.
func (s slowForNew) Keys(object runtime.Object) ([]string, error) {
	if name(object) == "n1/new" {
		close(s.started)
		<-s.proceed
	}
	return s.byData.Keys(object)
}

// An index that is added while Replace computes the keys of others has the new objects.
func TestIndexIsAddedDuringReplace(t *testing.T) {
	for title, before := range map[string][]runtime.Object{
		"first list": {},
		"later list": {configMap("n0", "gone", "a=x")},
	} {
		t.Run(title, func(t *testing.T) {
			objects := lookups.NewObjectCache(true, klog.Background())
			if len(before) > 0 {
				if err := objects.Replace(before); err != nil {
					t.Fatal(err)
				}
			}
			first := slowForNew{"values", make(chan struct{}), make(chan struct{})}
			objects.AddIndex(first)
			replaced, added := make(chan error), make(chan struct{})
			go func() { replaced <- objects.Replace([]runtime.Object{configMap("n1", "new", "b=y")}) }()
			<-first.started
			go func() {
				defer close(added)
				objects.AddIndex(byData("keys"))
			}()
			// AddIndex may wait for Replace. If it does not, it has to be done before Replace is.
			select {
			case <-added:
			case <-time.After(50 * time.Millisecond):
			}
			close(first.proceed)
			if err := <-replaced; err != nil {
				t.Fatal(err)
			}
			<-added
			state := objects.State()
			for key, want := range map[string][]string{"a": {}, "b": {"n1/new"}} {
				found, ok := state.Indexed("keys", "", key)
				if diff := cmp.Diff(want, namesOf(found)); diff != "" || !ok {
					t.Errorf("%s, %t (-want +got):\n%s", key, ok, diff)
				}
			}
		})
	}
}

// fickle is an index with another key at each call.
type fickle struct{ calls atomic.Int64 }

// Text implements lookups.Indexer.
func (f *fickle) Text() string { return "fickle" }

// Keys implements lookups.Indexer.
func (f *fickle) Keys(runtime.Object) ([]string, error) {
	if f.calls.Add(1)%3 == 0 {
		return nil, errors.New("third call")
	}
	return []string{fmt.Sprint(f.calls.Load())}, nil
}

// An index forgets an object even if its expression, which may depend on the order of a map, would
// return other keys for it now.
func TestKeysThatVary(t *testing.T) {
	objects := lookups.NewObjectCache(true, klog.Background())
	if err := objects.Replace(nil); err != nil {
		t.Fatal(err)
	}
	objects.AddIndex(&fickle{})
	for range 6 {
		if err := objects.Set(configMap("n", "c")); err != nil {
			t.Fatal(err)
		}
	}
	if err := objects.Delete(configMap("n", "c")); err != nil {
		t.Fatal(err)
	}
	state := objects.State()
	for key := range 10 {
		if found, _ := state.Indexed("fickle", "", fmt.Sprint(key)); len(found) > 0 {
			t.Errorf("key %d has %v", key, namesOf(found))
		}
	}
	if got := state.Unindexed(); got != 0 {
		t.Errorf("%d objects have no keys, want none", got)
	}
}

// An index that is removed is not computed to the end.
func TestIndexIsRemovedWhileItIsFilled(t *testing.T) {
	objects := lookups.NewObjectCache(true, klog.Background())
	if err := objects.Replace([]runtime.Object{configMap("n0", "c0", "a=x"), configMap("n1", "c1", "a=x")}); err != nil {
		t.Fatal(err)
	}
	added := &slow{byData: "values", started: make(chan struct{}), proceed: make(chan struct{})}
	fill, filled := objects.StartIndex(added), make(chan struct{})
	go func() {
		defer close(filled)
		fill()
	}()
	<-added.started
	objects.RemoveIndex("values")
	close(added.proceed)
	<-filled
	if hasIndex(objects.State(), "values") {
		t.Error("states have an index that was removed")
	}
	objects.AddIndex(byData("values"))
	if !hasIndex(objects.State(), "values") {
		t.Error("states lack an index that was added again")
	}
}

// States are consistent while goroutines change objects and add and remove indexes.
func TestConcurrentChanges(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	objects := lookups.NewObjectCache(true, klog.Background())
	if err := objects.Replace(nil); err != nil {
		t.Fatal(err)
	}
	var users sync.WaitGroup
	for worker := range uint64(4) {
		users.Go(func() {
			random := rand.New(rand.NewPCG(seed, worker))
			for range 300 {
				c := configMap(fmt.Sprintf("n%d", random.IntN(4)), fmt.Sprintf("c%d", random.IntN(30)), fmt.Sprintf("a=%d", random.IntN(3)))
				var err error
				switch random.IntN(8) {
				case 0:
					err = objects.Delete(c)
				case 1:
					err = objects.Replace([]runtime.Object{c, configMap("n0", "kept", "a=x")})
				case 2, 3:
					index := []byData{"keys", "values"}[random.IntN(2)]
					objects.AddIndex(index)
					defer objects.RemoveIndex(string(index))
				default:
					err = objects.Set(c)
				}
				if err != nil {
					t.Error(err)
				}
				state, present := objects.State(), map[string]*corev1.ConfigMap{}
				for _, object := range state.List("") {
					present[name(object)] = object.(*corev1.ConfigMap)
				}
				for _, index := range []byData{"keys", "values"} {
					for _, key := range []string{"a", "x", "0"} {
						found, ok := state.Indexed(string(index), "", key)
						for _, object := range found {
							if present[name(object)] != object {
								t.Errorf("index %s has %s, which is not present", index, name(object))
							}
							delete(present, name(object))
						}
						for rest, c := range present {
							if keys, _ := index.Keys(c); ok && keys[0] == key {
								t.Errorf("index %s lacks %s under key %s", index, rest, key)
							}
						}
						for _, object := range found {
							present[name(object)] = object.(*corev1.ConfigMap)
						}
					}
				}
			}
		})
	}
	users.Wait()
}
