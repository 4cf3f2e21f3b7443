// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package paramsource_test

import (
	"fmt"
	"sync"
	"testing"
	"testing/synctest"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	clienttesting "k8s.io/client-go/testing"

	"celador.io/admission/params"
)

func list(t *testing.T, l params.Lister, namespace string, selector labels.Selector) []*unstructured.Unstructured {
	t.Helper()
	found, err := l.List(namespace, selector)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// A result is kept until an object in its namespace changes. Each selector has its own result.
func TestListIsKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, source := started(t, limit("blue", "a", "gold"), limit("blue", "b"), limit("red", "a", "gold"))
		s.serve(limits.GroupVersion(), namespacedLimits)
		k := source.Open(limitKind)
		defer k.Close()
		l := synced(t, k)
		gold, all := labels.SelectorFromSet(labels.Set{"gold": "yes"}), labels.Everything()
		kept := func(what string, blue, red bool) {
			t.Helper()
			for namespace, want := range map[string]bool{"blue": blue, "red": red} {
				for _, selector := range []labels.Selector{gold, all} {
					before := list(t, l, namespace, selector)
					if what == "change" {
						s.create(t, limits, limit("blue", "z-"+fmt.Sprint(len(selector.String()), namespace)))
						synctest.Wait()
					}
					after := list(t, l, namespace, selector)
					if same := &before[0] == &after[0]; same != want {
						t.Errorf("%s: result of %q in %s is the same: %v, want %v", what, selector, namespace, same, want)
					}
				}
			}
		}
		kept("no change", true, true)
		kept("change", false, true)
	})
}

// The number of kept results is bounded.
func TestListsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, source := started(t, limit("blue", "a"))
		s.serve(limits.GroupVersion(), namespacedLimits)
		k := source.Open(limitKind)
		defer k.Close()
		l := synced(t, k)
		first := list(t, l, "blue", labels.Everything())
		for i := range 3000 {
			list(t, l, fmt.Sprint(i), labels.Everything())
		}
		if again := list(t, l, "blue", labels.Everything()); &first[0] == &again[0] {
			t.Error("the oldest result is kept after 3000 others")
		}
	})
}

// A result that exceeds the bound alone does not displace others.
func TestLargestListIsNotKept(t *testing.T) {
	const exceeding = 1<<17 + 1
	stored := &unstructured.UnstructuredList{Items: []unstructured.Unstructured{*limit("blue", "a")}}
	for i := range exceeding {
		stored.Items = append(stored.Items, *limit("red", fmt.Sprint(i)))
	}
	synctest.Test(t, func(t *testing.T) {
		s, source := started(t)
		s.PrependReactor("list", limits.Resource, func(clienttesting.Action) (bool, runtime.Object, error) { return true, stored, nil })
		s.serve(limits.GroupVersion(), namespacedLimits)
		k := source.Open(limitKind)
		defer k.Close()
		l := synced(t, k)
		first := list(t, l, "blue", labels.Everything())
		for range 2 {
			if got := len(list(t, l, "red", labels.Everything())); got != exceeding {
				t.Fatalf("found %d params, want %d", got, exceeding)
			}
		}
		if again := list(t, l, "blue", labels.Everything()); &first[0] != &again[0] {
			t.Error("a small result is not kept")
		}
	})
}

// Concurrent requests never see fewer params than earlier ones while params are created, and all of
// them see the last.
func TestListWhileParamsChange(t *testing.T) {
	const created = 90 // the fake watch buffers 100 events
	synctest.Test(t, func(t *testing.T) {
		s, source := started(t)
		s.serve(limits.GroupVersion(), namespacedLimits)
		k := source.Open(limitKind)
		defer k.Close()
		l := synced(t, k)
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() {
				for last := 0; last < created; {
					found, err := l.List("blue", labels.Everything())
					if err != nil || len(found) < last {
						t.Errorf("found %d params after %d, error %v", len(found), last, err)
						return
					}
					last = len(found)
				}
			})
		}
		for i := range created {
			s.create(t, limits, limit("blue", fmt.Sprint("p", i)))
		}
		all.Wait()
	})
}
