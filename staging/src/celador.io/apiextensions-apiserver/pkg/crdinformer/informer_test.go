// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package crdinformer_test

import (
	"context"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	upstreamv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	listers "k8s.io/apiextensions-apiserver/pkg/client/listers/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	v1 "celador.io/api/apiextensions/v1"
	"celador.io/apiextensions-apiserver/pkg/apis/apiextensions"
	"celador.io/apiextensions-apiserver/pkg/crdinformer"
)

// source serves definitions to an informer.
type source struct {
	lists bool

	lock        sync.Mutex
	version     int
	definitions map[string]*v1.CustomResourceDefinition
	watcher     *watch.RaceFreeFakeWatcher
}

// newSource returns a source that the informer lists and watches, or only watches.
func newSource(lists bool) *source {
	return &source{lists: lists, version: 1, definitions: map[string]*v1.CustomResourceDefinition{}}
}

// IsWatchListSemanticsUnSupported makes the reflector list.
func (s *source) IsWatchListSemanticsUnSupported() bool { return s.lists }

func (s *source) List(context.Context, metav1.ListOptions) (*v1.CustomResourceDefinitionList, error) {
	s.lock.Lock()
	defer s.lock.Unlock()
	list := &v1.CustomResourceDefinitionList{ListMeta: metav1.ListMeta{ResourceVersion: strconv.Itoa(s.version)}}
	for _, definition := range s.definitions {
		list.Items = append(list.Items, *definition.DeepCopy())
	}
	return list, nil
}

func (s *source) Watch(_ context.Context, options metav1.ListOptions) (watch.Interface, error) {
	s.lock.Lock()
	defer s.lock.Unlock()
	s.watcher = watch.NewRaceFreeFake()
	if options.SendInitialEvents != nil && *options.SendInitialEvents {
		for _, definition := range s.definitions {
			s.watcher.Add(definition.DeepCopy())
		}
		bookmark := &v1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{
			ResourceVersion: strconv.Itoa(s.version), Annotations: map[string]string{metav1.InitialEventsAnnotationKey: "true"},
		}}
		s.watcher.Action(watch.Bookmark, bookmark)
	}
	return s.watcher, nil
}

// apply stores a CustomResourceDefinition, or removes it if it is nil, and sends the event unless
// silent.
func (s *source) apply(name string, definition *v1.CustomResourceDefinition, silent bool) {
	s.lock.Lock()
	defer s.lock.Unlock()
	s.version++
	old, existed := s.definitions[name]
	event := watch.Added
	switch {
	case definition == nil:
		event, definition = watch.Deleted, old
		delete(s.definitions, name)
	case existed:
		event = watch.Modified
	}
	definition.ResourceVersion = strconv.Itoa(s.version)
	if event != watch.Deleted {
		s.definitions[name] = definition
	}
	if s.watcher != nil && !silent {
		s.watcher.Action(event, definition.DeepCopy())
	}
}

// expire ends the watch, so that the informer lists again.
func (s *source) expire() {
	s.lock.Lock()
	defer s.lock.Unlock()
	s.watcher.Error(&errors.NewResourceExpired("too old").ErrStatus)
	s.watcher.Stop()
}

// definition returns a CustomResourceDefinition whose default expression has the rule, or none if
// it is empty.
func definition(name string, generation int64, rule string) *v1.CustomResourceDefinition {
	schema := &v1.JSONSchemaProps{Type: "object"}
	strategy := v1.NoneConverter
	if rule != "" {
		schema.XDefault = []v1.DefaultRule{{Rule: rule}}
		strategy = v1.ConversionRules
	}
	return &v1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID("uid of " + name), Generation: generation},
		Spec: v1.CustomResourceDefinitionSpec{
			Conversion: &v1.CustomResourceConversion{Strategy: strategy},
			Versions:   []v1.CustomResourceDefinitionVersion{{Name: "v1", Schema: &v1.CustomResourceValidation{OpenAPIV3Schema: schema}}},
		},
	}
}

// ruleOf returns the rule of a CustomResourceDefinition's default expression.
func ruleOf(expressions *apiextensions.ExpressionFields) string {
	if expressions.IsEmpty() {
		return ""
	}
	return expressions.Defaults["v1"][""][0].Rule
}

// A running informer, and what its handler received.
type running struct {
	source      *source
	expressions *crdinformer.ExpressionCache
	lister      listers.CustomResourceDefinitionLister

	lock   sync.Mutex
	events []string
}

// run starts an informer that stops with the test, and waits until it has what the source has. The
// caller runs in a synctest bubble.
func run(t *testing.T, s *source) *running {
	t.Helper()
	factory, expressions := crdinformer.NewSharedInformerFactory(nil, s, 5*time.Minute)
	informer := factory.Apiextensions().V1().CustomResourceDefinitions()
	r := &running{source: s, expressions: expressions, lister: informer.Lister()}
	// The typed handlers of Kubernetes' controllers panic on other types.
	record := func(event string, obj any) {
		if tombstone, ok := obj.(cache.DeletedFinalStateUnknown); ok {
			event, obj = "unknown "+event, tombstone.Obj
		}
		r.lock.Lock()
		defer r.lock.Unlock()
		r.events = append(r.events, event+" "+obj.(*upstreamv1.CustomResourceDefinition).Name)
	}
	if _, err := informer.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(obj any) { record("add", obj) },
		UpdateFunc: func(old, obj any) { _ = old.(*upstreamv1.CustomResourceDefinition); record("update", obj) },
		DeleteFunc: func(obj any) { record("delete", obj) },
	}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	factory.StartWithContext(ctx)
	t.Cleanup(func() {
		cancel()
		factory.Shutdown()
	})
	synctest.Wait()
	if !informer.Informer().HasSynced() {
		t.Fatal("the informer has not synced")
	}
	return r
}

// get returns a CustomResourceDefinition in the informer's cache.
func (r *running) get(t *testing.T, name string) *upstreamv1.CustomResourceDefinition {
	t.Helper()
	found, err := r.lister.Get(name)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// expect compares what the handler received since the last call, in any order, and the rules of the
// definitions in the cache, with what is wanted.
func (r *running) expect(t *testing.T, events []string, rules map[string]string) {
	t.Helper()
	synctest.Wait()
	r.lock.Lock()
	received := r.events
	r.events = nil
	r.lock.Unlock()
	slices.Sort(received)
	if diff := cmp.Diff(events, received); diff != "" {
		t.Errorf("events differ (-want +got):\n%s", diff)
	}
	cached, err := r.lister.List(labels.Everything())
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, definition := range cached {
		got[definition.Name] = ruleOf(r.expressions.Of(definition))
		want := upstreamv1.NoneConverter
		if got[definition.Name] != "" {
			want = "ConversionRules"
		}
		if strategy := definition.Spec.Conversion.Strategy; strategy != want {
			t.Errorf("%s: got strategy %q in Kubernetes' type, want %q", definition.Name, strategy, want)
		}
	}
	if diff := cmp.Diff(rules, got); diff != "" {
		t.Errorf("rules differ (-want +got):\n%s", diff)
	}
}

func TestInformer(t *testing.T) {
	for name, lists := range map[string]bool{"list": true, "watch list": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newSource(lists)
				s.apply("plain", definition("plain", 1, ""), false)
				s.apply("rich", definition("rich", 1, "1"), false)
				r := run(t, s)
				r.expect(t, []string{"add plain", "add rich"}, map[string]string{"plain": "", "rich": "1"})
				if got := crdinformer.Len(r.expressions); got != 1 {
					t.Errorf("got %d entries, want one, of the definition with expressions", got)
				}

				first := r.get(t, "rich")
				s.apply("rich", definition("rich", 2, "2"), false)
				r.expect(t, []string{"update rich"}, map[string]string{"plain": "", "rich": "2"})
				if got := ruleOf(r.expressions.Of(first)); got != "1" {
					t.Errorf("got rule %q of the old definition, want 1", got)
				}

				// A change of the status keeps the expressions, which are held once.
				second := r.expressions.Of(r.get(t, "rich"))
				s.apply("rich", definition("rich", 2, "2"), false)
				r.expect(t, []string{"update rich"}, map[string]string{"plain": "", "rich": "2"})
				if r.expressions.Of(r.get(t, "rich")) != second {
					t.Error("the same revision has other expressions after a change of the status")
				}

				// A restored backup has an old generation with another spec.
				s.apply("rich", definition("rich", 2, "restored"), false)
				r.expect(t, []string{"update rich"}, map[string]string{"plain": "", "rich": "restored"})
				s.apply("rich", definition("rich", 2, ""), false)
				r.expect(t, []string{"update rich"}, map[string]string{"plain": "", "rich": ""})

				s.apply("plain", definition("plain", 2, "added"), false)
				r.expect(t, []string{"update plain"}, map[string]string{"plain": "added", "rich": ""})
				s.apply("plain", nil, false)
				r.expect(t, []string{"delete plain"}, map[string]string{"rich": ""})

				// The informer learns from a new list, or a new watch, what it missed.
				s.apply("rich", nil, true)
				s.apply("other", definition("other", 1, "3"), true)
				s.expire()
				time.Sleep(time.Minute)
				r.expect(t, []string{"add other", "unknown delete rich"}, map[string]string{"other": "3"})

				// A resync delivers what is in the cache, which the transform does not see again.
				time.Sleep(5 * time.Minute)
				r.expect(t, []string{"update other"}, map[string]string{"other": "3"})
			})
		})
	}
}

// collect collects garbage until the table has at most the given number of entries.
func (r *running) collect(t *testing.T, entries int) {
	t.Helper()
	// A cleanup runs some time after the collection that found its object unreachable.
	for range 1000 {
		runtime.GC()
		if crdinformer.Len(r.expressions) <= entries {
			return
		}
	}
	t.Fatalf("%d entries are left, want %d", crdinformer.Len(r.expressions), entries)
}

// TestExpressionsLeave collects the garbage of updates and deletions.
func TestExpressionsLeave(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSource(false)
		s.apply("kept", definition("kept", 1, "1"), false)
		r := run(t, s)
		held := r.get(t, "kept")
		for generation := range int64(20) {
			s.apply("kept", definition("kept", generation+2, "2"), false)
			s.apply("deleted", definition("deleted", generation+1, "3"), false)
			s.apply("deleted", nil, false)
			synctest.Wait()
		}
		// The CustomResourceDefinition in the cache, and the one that the test holds.
		r.collect(t, 2)
		if got := ruleOf(r.expressions.Of(held)); got != "1" {
			t.Errorf("got rule %q of a definition that is in use, want 1", got)
		}
		if got := ruleOf(r.expressions.Of(r.get(t, "kept"))); got != "2" {
			t.Errorf("got rule %q of the definition in the cache, want 2", got)
		}
		runtime.KeepAlive(held)
		held = nil
		r.collect(t, 1)
		s.apply("kept", nil, false)
		synctest.Wait()
		r.collect(t, 0)
	})
}
