// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package customresources

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"runtime"
	"strconv"
	"sync"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"

	"celador.io/celador/test/integration/testserver"
)

// listed is how many objects TestConvertedLists lists. CELADOR_LISTED_OBJECTS overrides it.
const listed = 2000

// A list contains each of many objects once, in the stored version and converted, whole and in
// pages.
func TestConvertedLists(t *testing.T) {
	count := listed
	if text := os.Getenv("CELADOR_LISTED_OBJECTS"); text != "" {
		count = testserver.Must(strconv.Atoi(text))(t)
	}
	group := defineRuled(t, admin, "v1")
	etcd := testserver.Store(t, dataDir)
	var written sync.WaitGroup
	const writers = 16
	for writer := range writers {
		written.Go(func() {
			for i := writer; i < count; i += writers {
				w := ruledWidget(group, "v1", fmt.Sprintf("w%06d", i))
				w.SetUID(types.UID(fmt.Sprint(i)))
				value := testserver.Must(json.Marshal(w))(t)
				testserver.Must(etcd.Put(t.Context(), "/registry/"+group+"/"+plural+"/"+namespace+"/"+w.GetName(), string(value)))(t)
			}
		})
	}
	written.Wait()
	for _, version := range []string{"v1", "v3"} {
		// The first request fills the watch cache of the version, which answers the others.
		before, start := heap(), time.Now()
		testserver.Eventually(t, func(ctx context.Context) error {
			_, err := in(admin, group, version).List(ctx, metav1.ListOptions{ResourceVersion: "0", Limit: 1})
			return err
		})
		t.Logf("%d objects in %s: in the cache after %s, with %d MiB", count, version, time.Since(start), (heap()-before)>>20)
		for name, options := range map[string]metav1.ListOptions{"whole": {}, "pages": {Limit: int64(count)/7 + 1}, "any version": {ResourceVersion: "0"}} {
			t.Run(version+" "+name, func(t *testing.T) { expectListed(t, group, version, options, count) })
		}
	}
	testserver.Must(etcd.Delete(t.Context(), "/registry/"+group+"/", clientv3.WithPrefix()))(t)
}

// heap returns how many bytes are in use.
func heap() uint64 {
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.HeapAlloc
}

// expectListed expects a list, or all pages of it, to have the given number of widgets of 30
// seconds.
func expectListed(t *testing.T, group, version string, options metav1.ListOptions, count int) {
	t.Helper()
	start, names, want := time.Now(), sets.New[string](), ruledSpec(version, "a", 30)
	for {
		page := testserver.Must(in(admin, group, version).List(t.Context(), options))(t)
		for i := range page.Items {
			if got := page.Items[i].Object["spec"]; !reflect.DeepEqual(got, want) {
				t.Fatalf("%s: got spec %v, want %v", page.Items[i].GetName(), got, want)
			}
			names.Insert(page.Items[i].GetName())
		}
		if options.Continue = page.GetContinue(); options.Continue == "" {
			break
		}
	}
	if names.Len() != count {
		t.Errorf("got %d objects, want %d", names.Len(), count)
	}
	t.Logf("%d objects in %s", count, time.Since(start))
}

// Objects are written in all versions while the storage version changes, and rewritten afterwards.
// Each ends up in the storage version, and no write is lost.
func TestStorageMigration(t *testing.T) {
	group := defineRuled(t, admin, "v1")
	etcd := testserver.Store(t, dataDir)
	const objects, writes = 9, 12
	name := func(i int) string { return fmt.Sprintf("w%d", i) }
	for i := range objects {
		testserver.Must(in(admin, group, "v2").Create(t.Context(), ruledWidget(group, "v2", name(i)), metav1.CreateOptions{}))(t)
	}
	var writers sync.WaitGroup
	for i := range objects {
		writers.Go(func() {
			for n := range int64(writes) {
				version := ruledVersions[(int(n)+i)%len(ruledVersions)]
				got, err := in(admin, group, version).Get(t.Context(), name(i), metav1.GetOptions{})
				if err != nil {
					t.Errorf("get %s in %s: %v", name(i), version, err)
					return
				}
				got.Object["spec"] = ruledSpec(version, fmt.Sprint("a", n), n)
				// Nobody else writes the object, so that a conflict would be a lost write.
				if _, err := in(admin, group, version).Update(t.Context(), got, metav1.UpdateOptions{}); err != nil {
					t.Errorf("update %s in %s: %v", name(i), version, err)
					return
				}
			}
		})
	}
	for _, storage := range []string{"v3", "v1", "v2", "v3"} {
		changeRuled(t, admin, group, func(crd map[string]any) { store(crd, storage) })
	}
	writers.Wait()
	for i := range objects {
		testserver.Eventually(t, func(ctx context.Context) error {
			got, err := in(admin, group, "v1").Get(ctx, name(i), metav1.GetOptions{})
			if err != nil {
				return err
			}
			expectSpec(t, "after the migration", got, group, "v1", ruledSpec("v1", fmt.Sprint("a", writes-1), writes-1))
			if _, err := in(admin, group, "v1").Update(ctx, got, metav1.UpdateOptions{}); err != nil {
				return err
			}
			found, err := etcd.Get(ctx, "/registry/"+group+"/"+plural+"/"+namespace+"/"+name(i))
			if err != nil {
				return err
			}
			var stored unstructured.Unstructured
			if err := json.Unmarshal(found.Kvs[0].Value, &stored); err != nil {
				return err
			}
			if stored.GetAPIVersion() != group+"/v3" {
				return fmt.Errorf("%s is stored as %s, want v3", name(i), stored.GetAPIVersion())
			}
			expectSpec(t, "stored", &stored, group, "v3", ruledSpec("v3", fmt.Sprint("a", writes-1), writes-1))
			return nil
		})
	}
}

// A watch ends when the CustomResourceDefinition changes. A client that resumes it sees every
// change once, in its version.
func TestWatchDuringUpdates(t *testing.T) {
	group := defineRuled(t, admin, "v1")
	testserver.Must(in(admin, group, "v1").Create(t.Context(), ruledWidget(group, "v1", "watched"), metav1.CreateOptions{}))(t)
	list := testserver.Must(in(admin, group, "v3").List(t.Context(), metav1.ListOptions{}))(t)
	const writes = 30
	seen := make(chan error, 1)
	go func() { seen <- watchTimeouts(t.Context(), group, list.GetResourceVersion(), writes) }()
	for n := range writes {
		patch := fmt.Appendf(nil, `{"spec":{"timeoutSeconds":%d}}`, n)
		testserver.Must(in(admin, group, "v2").Patch(t.Context(), "watched", types.MergePatchType, patch, metav1.PatchOptions{}))(t)
		if n%10 == 5 {
			changeRuled(t, admin, group, func(crd map[string]any) {
				store(crd, ruledVersions[n/10])
				converters, _, _ := unstructured.NestedSlice(crd, "spec", "conversion", "converters")
				converters = append(converters[1:], converters[0])
				_ = unstructured.SetNestedSlice(crd, converters, "spec", "conversion", "converters")
			})
		}
	}
	if err := <-seen; err != nil {
		t.Error(err)
	}
}

// watchTimeouts watches v3 from a resource version, and resumes the watch when it ends. It returns
// an error unless it sees the timeouts 0s, 1s and so on.
func watchTimeouts(ctx context.Context, group, resourceVersion string, count int) error {
	ctx, cancel := context.WithTimeout(ctx, deadline)
	defer cancel()
	for next := 0; next < count; {
		events, err := in(admin, group, "v3").Watch(ctx, metav1.ListOptions{ResourceVersion: resourceVersion})
		if err != nil {
			return err
		}
		for event := range events.ResultChan() {
			object, ok := event.Object.(*unstructured.Unstructured)
			if !ok {
				events.Stop()
				return fmt.Errorf("got %w after %d changes", apierrors.FromObject(event.Object), next)
			}
			resourceVersion = object.GetResourceVersion()
			timeout, _, _ := unstructured.NestedString(object.Object, "spec", "timeout")
			if want := fmt.Sprintf("%ds", next); timeout != want {
				events.Stop()
				return fmt.Errorf("got timeout %s, want %s", timeout, want)
			}
			if next++; next == count {
				break
			}
		}
		events.Stop()
	}
	return ctx.Err()
}
