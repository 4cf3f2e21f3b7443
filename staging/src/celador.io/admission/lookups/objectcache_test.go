// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package lookups_test

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/klog/v2"

	"celador.io/admission/lookups"
)

// byData is an index of ConfigMaps by the keys and values of their data. It fails for objects with
// the key "broken".
type byData string

// Text implements lookups.Indexer.
func (b byData) Text() string { return string(b) }

// Keys implements lookups.Indexer.
func (b byData) Keys(object runtime.Object) ([]string, error) {
	data := object.(*corev1.ConfigMap).Data
	if _, broken := data["broken"]; broken {
		return nil, errors.New("broken")
	}
	if b == "keys" {
		return slices.Collect(maps.Keys(data)), nil
	}
	return slices.Collect(maps.Values(data)), nil
}

func configMap(namespace, name string, data ...string) *corev1.ConfigMap {
	c := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}, Data: map[string]string{}}
	for _, d := range data {
		key, value, _ := strings.Cut(d, "=")
		c.Data[key] = value
	}
	return c
}

// name returns the namespace and the name of an object.
func name(object runtime.Object) string {
	c := object.(*corev1.ConfigMap)
	return c.Namespace + "/" + c.Name
}

func namesOf(objects []runtime.Object) []string {
	names := []string{}
	for _, object := range objects {
		names = append(names, name(object))
	}
	return names
}

// Objects and indexes have what a linear search through the present objects finds, and earlier
// states keep what they had.
func TestObjects(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	objects := lookups.NewObjectCache(true, klog.Background())
	objects.AddIndex(byData("keys"))
	if objects.State() != nil {
		t.Error("there is a state before the objects are known")
	}
	present := map[string]*corev1.ConfigMap{}
	generated := func() *corev1.ConfigMap {
		c := configMap(fmt.Sprintf("n%d", random.IntN(4)), fmt.Sprintf("c%d", random.IntN(30)))
		for range random.IntN(4) {
			c.Data[[]string{"a", "b", "c", "broken"}[random.IntN(4)]] = []string{"x", "y", "z"}[random.IntN(3)]
		}
		return c
	}
	replace := func(count int) {
		clear(present)
		var list []runtime.Object
		for range count {
			c := generated()
			if present[name(c)] == nil {
				present[name(c)] = c
				list = append(list, c)
			}
		}
		if err := objects.Replace(list); err != nil {
			t.Fatal(err)
		}
	}
	replace(50)
	type snapshot struct {
		state *lookups.State
		want  string
	}
	var before []snapshot
	for step := range 600 {
		switch c := generated(); random.IntN(6) {
		case 0:
			delete(present, name(c))
			if err := objects.Delete(c); err != nil {
				t.Fatal(err)
			}
		case 1:
			if step%100 == 0 {
				replace(random.IntN(60))
			}
		case 2:
			if step%10 == 0 {
				objects.AddIndex(byData("values"))
			} else if step%10 == 1 && hasIndex(objects.State(), "values") {
				objects.RemoveIndex("values")
			}
		default:
			present[name(c)] = c
			if err := objects.Set(c); err != nil {
				t.Fatal(err)
			}
		}
		got, want := describe(objects.State()), expected(present, hasIndex(objects.State(), "values"))
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("step %d (-want +got):\n%s", step, diff)
		}
		if step%100 == 0 {
			before = append(before, snapshot{objects.State(), got})
		}
	}
	for i, s := range before {
		if got := describe(s.state); got != s.want {
			t.Errorf("state %d has changed to %s", i, got)
		}
	}
}

func hasIndex(s *lookups.State, text string) bool {
	_, ok := s.Indexed(text, "", "x")
	return ok
}

// describe returns what a state finds.
func describe(s *lookups.State) string {
	var text strings.Builder
	for _, namespace := range []string{"", "n0", "n1", "n2", "n3"} {
		fmt.Fprintln(&text, namespace, s.Len(namespace), namesOf(s.List(namespace)))
		for _, key := range []string{"a", "b", "x", "y"} {
			for _, index := range []string{"keys", "values"} {
				if found, ok := s.Indexed(index, namespace, key); ok {
					fmt.Fprintln(&text, index, key, namesOf(found))
				}
			}
		}
	}
	return text.String()
}

// expected returns the same as describe for the objects that are present.
func expected(present map[string]*corev1.ConfigMap, values bool) string {
	var text strings.Builder
	for _, namespace := range []string{"", "n0", "n1", "n2", "n3"} {
		var all []runtime.Object
		for _, c := range present {
			if namespace == "" || c.Namespace == namespace {
				all = append(all, c)
			}
		}
		slices.SortFunc(all, func(a, b runtime.Object) int { return strings.Compare(name(a), name(b)) })
		fmt.Fprintln(&text, namespace, len(all), namesOf(all))
		for _, key := range []string{"a", "b", "x", "y"} {
			for _, index := range []byData{"keys", "values"} {
				if index == "values" && !values {
					continue
				}
				var found []runtime.Object
				for _, object := range all {
					if keys, _ := index.Keys(object); slices.Contains(keys, key) {
						found = append(found, object)
					}
				}
				fmt.Fprintln(&text, index, key, namesOf(found))
			}
		}
	}
	return text.String()
}

func TestIndexIsSharedByUsers(t *testing.T) {
	objects := lookups.NewObjectCache(true, klog.Background())
	if err := objects.Replace([]runtime.Object{configMap("n", "c", "a=x")}); err != nil {
		t.Fatal(err)
	}
	objects.AddIndex(byData("keys"))
	objects.AddIndex(byData("keys"))
	objects.RemoveIndex("keys")
	if !hasIndex(objects.State(), "keys") {
		t.Error("the index is gone with its first user")
	}
	objects.RemoveIndex("keys")
	if hasIndex(objects.State(), "keys") {
		t.Error("the index outlives its users")
	}
}

func TestObjectWithoutMetadata(t *testing.T) {
	objects := lookups.NewObjectCache(true, klog.Background())
	if objects.Set(&runtime.Unknown{}) == nil || objects.Delete(&runtime.Unknown{}) == nil || objects.Replace([]runtime.Object{&runtime.Unknown{}}) == nil {
		t.Error("an object without metadata is accepted")
	}
}
