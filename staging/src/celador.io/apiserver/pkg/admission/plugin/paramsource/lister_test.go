// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package paramsource_test

import (
	"context"
	"errors"
	"math"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"

	"celador.io/apiserver/pkg/admission/plugin/paramsource"
)

var configMapResource = metav1.APIResource{Name: "configmaps", Kind: "ConfigMap", Namespaced: true}

func TestGet(t *testing.T) {
	forbidden := apierrors.NewForbidden(limits.GroupResource(), "late", errors.New("no"))
	for _, tc := range []struct {
		name      string
		scope     metav1.APIResource
		namespace string
		param     string
		// late is created without an event for the informer.
		late     *unstructured.Unstructured
		refused  error
		unserved bool
		wantGet  int
		want     *unstructured.Unstructured
		wantErr  func(error) bool
	}{
		{name: "cached", scope: namespacedLimits, namespace: "blue", param: "first", want: limit("blue", "first")},
		{name: "same name in another namespace", scope: namespacedLimits, namespace: "red", param: "first", wantGet: 1, wantErr: apierrors.IsNotFound},
		{name: "created a moment ago", scope: namespacedLimits, namespace: "blue", param: "late", late: limit("blue", "late"), wantGet: 1, want: limit("blue", "late")},
		{name: "absent", scope: namespacedLimits, namespace: "blue", param: "late", wantGet: 1, wantErr: apierrors.IsNotFound},
		{name: "kind is not served", scope: namespacedLimits, namespace: "blue", param: "late", late: limit("blue", "late"), unserved: true, wantGet: 1, wantErr: apierrors.IsNotFound},
		{name: "cached object of a kind that is not served", scope: namespacedLimits, namespace: "blue", param: "first", unserved: true, want: limit("blue", "first")},
		{name: "refused", scope: namespacedLimits, namespace: "blue", param: "late", refused: forbidden, wantGet: 1, wantErr: apierrors.IsForbidden},
		{name: "cached, server refuses", scope: namespacedLimits, namespace: "blue", param: "first", refused: forbidden, want: limit("blue", "first")},
		{name: "cluster-scoped", scope: clusterLimits, param: "cluster", want: limit("", "cluster")},
		{name: "cluster-scoped, created a moment ago", scope: clusterLimits, param: "late", late: limit("", "late"), wantGet: 1, want: limit("", "late")},
		{name: "cluster-scoped, absent", scope: clusterLimits, param: "late", wantGet: 1, wantErr: apierrors.IsNotFound},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				objects := []runtime.Object{limit("blue", "first"), limit("blue", "other")}
				if !tc.scope.Namespaced {
					objects = []runtime.Object{limit("", "cluster"), limit("", "other")}
				}
				s, source := started(t, objects...)
				s.serve(limits.GroupVersion(), tc.scope)
				k := source.Open(limitKind)
				l := synced(t, k)
				k.Close()
				synctest.Wait()
				if tc.late != nil {
					s.create(t, limits, tc.late)
				}
				if tc.unserved {
					s.serve(limits.GroupVersion())
				}
				s.set(func() { s.errs["get"] = tc.refused })

				got, err := l.Get(t.Context(), tc.namespace, tc.param)
				if tc.wantErr == nil && err != nil || tc.wantErr != nil && !tc.wantErr(err) {
					t.Errorf("error is %v", err)
				}
				if diff := cmp.Diff(tc.want, got); diff != "" {
					t.Errorf("param (-want +got):\n%s", diff)
				}
				if got := s.count("get"); got != tc.wantGet {
					t.Errorf("asked the server %d times, want %d", got, tc.wantGet)
				}
			})
		})
	}
}

// A request waits at most a second for a server that does not answer.
func TestGetTakesTooLong(t *testing.T) {
	for name, tc := range map[string]struct{ caller, want time.Duration }{
		"caller with a long timeout": {time.Minute, time.Second},
		"impatient caller":           {300 * time.Millisecond, 300 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, stop := newServer(), make(chan struct{})
				defer close(stop)
				s.serve(limits.GroupVersion(), namespacedLimits)
				k := paramsource.New(s, hanging{s}, 0, nil, stop).Open(limitKind)
				defer k.Close()
				l := synced(t, k)
				ctx, cancel := context.WithTimeout(t.Context(), tc.caller)
				defer cancel()
				begin := time.Now()
				if got, err := l.Get(ctx, "blue", "late"); !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("got %v, %v, want deadline exceeded", got, err)
				}
				if waited := time.Since(begin); waited != tc.want {
					t.Errorf("answered after %v, want %v", waited, tc.want)
				}
			})
		})
	}
}

func TestList(t *testing.T) {
	param := func(namespace, name string, labels ...string) runtime.Object {
		return limit(namespace, name, labels...)
	}
	namespaced := []runtime.Object{
		param("blue", "c", "gold"), param("blue", "a", "gold", "old"), param("blue", "b"), param("blue", "d", "old"),
		param("red", "a", "gold"), param("red", "z"),
	}
	cluster := []runtime.Object{param("", "y", "gold"), param("", "x", "gold"), param("", "w")}
	for _, tc := range []struct {
		name      string
		scope     metav1.APIResource
		objects   []runtime.Object
		namespace string
		selector  string
		want      []string
	}{
		{"everything", namespacedLimits, namespaced, "blue", "", []string{"a", "b", "c", "d"}},
		{"another namespace", namespacedLimits, namespaced, "red", "", []string{"a", "z"}},
		{"empty namespace", namespacedLimits, namespaced, "green", "", nil},
		{"one label", namespacedLimits, namespaced, "blue", "gold=yes", []string{"a", "c"}},
		{"two labels", namespacedLimits, namespaced, "blue", "gold,old", []string{"a"}},
		{"without a label", namespacedLimits, namespaced, "blue", "!gold", []string{"b", "d"}},
		{"nothing", namespacedLimits, namespaced, "blue", "gold=no", nil},
		{"cluster-scoped", clusterLimits, cluster, "", "", []string{"w", "x", "y"}},
		{"cluster-scoped, one label", clusterLimits, cluster, "", "gold", []string{"x", "y"}},
		{"cluster-scoped, none", clusterLimits, nil, "", "", nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, source := started(t, tc.objects...)
				s.serve(limits.GroupVersion(), tc.scope)
				k := source.Open(limitKind)
				defer k.Close()
				selector, err := labels.Parse(tc.selector)
				if err != nil {
					t.Fatal(err)
				}
				found, err := synced(t, k).List(tc.namespace, selector)
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(tc.want, names(found)); diff != "" {
					t.Errorf("params (-want +got):\n%s", diff)
				}
				if got := s.count("list"); got != 1 {
					t.Errorf("asked the server %d times, want the informer's only", got)
				}
			})
		})
	}
}

// Policies read changed params, and selectors match the current labels.
func TestParamsChange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, source := started(t, limit("blue", "a", "gold"), limit("blue", "b", "gold"))
		s.serve(limits.GroupVersion(), namespacedLimits)
		k := source.Open(limitKind)
		defer k.Close()
		l := synced(t, k)
		gold := labels.SelectorFromSet(labels.Set{"gold": "yes"})
		expect := func(what string, want ...string) {
			t.Helper()
			synctest.Wait()
			found, err := l.List("blue", gold)
			if diff := cmp.Diff(want, names(found)); diff != "" || err != nil {
				t.Errorf("%s: error %v, params (-want +got):\n%s", what, err, diff)
			}
		}
		expect("at first", "a", "b")
		if err := s.Tracker().Update(limits, limit("blue", "a"), "blue"); err != nil {
			t.Fatal(err)
		}
		expect("label removed", "b")
		if err := s.Tracker().Delete(limits, "blue", "b"); err != nil {
			t.Fatal(err)
		}
		expect("deleted")
		s.create(t, limits, limit("blue", "c", "gold"))
		expect("created", "c")
	})
}

// Expressions see the same param whether it comes from the informer or the server. As in
// Kubernetes, objects of built-in kinds have no managedFields.
func TestFormOfParams(t *testing.T) {
	typed := func(name string) *corev1.ConfigMap {
		return &corev1.ConfigMap{
			TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"},
			ObjectMeta: metav1.ObjectMeta{
				Namespace: "blue", Name: name, Labels: map[string]string{"a": "b"}, CreationTimestamp: metav1.Unix(1e9, 0),
			},
			Data:       map[string]string{"max": "3"},
			BinaryData: map[string][]byte{"key": []byte("value")},
		}
	}
	untyped := func(object any) map[string]any {
		content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
		if err != nil {
			t.Fatal(err)
		}
		return content
	}
	stored := func(name string) *unstructured.Unstructured {
		configMap := typed(name)
		configMap.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "someone"}}
		return &unstructured.Unstructured{Object: untyped(configMap)}
	}
	custom := limit("blue", "custom")
	custom.SetManagedFields([]metav1.ManagedFieldsEntry{{Manager: "someone"}})
	synctest.Test(t, func(t *testing.T) {
		s, source := started(t, stored("listed"), custom)
		s.serve(configMaps.GroupVersion(), configMapResource)
		s.serve(limits.GroupVersion(), namespacedLimits)
		configMapsKind, limitsKind := source.Open(configMapKind), source.Open(limitKind)
		defer limitsKind.Close()
		configMapLister, limitLister := synced(t, configMapsKind), synced(t, limitsKind)
		s.create(t, configMaps, stored("watched"))
		synctest.Wait()
		configMapsKind.Close()
		synctest.Wait()
		s.create(t, configMaps, stored("got"))

		for _, name := range []string{"listed", "watched", "got"} {
			param, err := configMapLister.Get(t.Context(), "blue", name)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(untyped(typed(name)), param.Object); diff != "" {
				t.Errorf("param that is %s (-want +got):\n%s", name, diff)
			}
		}
		if got := s.count("get"); got != 1 {
			t.Errorf("asked the server %d times, want 1", got)
		}
		param, err := limitLister.Get(t.Context(), "blue", "custom")
		if diff := cmp.Diff(custom, param); diff != "" || err != nil {
			t.Errorf("error %v, custom param (-want +got):\n%s", err, diff)
		}
	})
}

// Numbers have the types that encoding and decoding give them, as in Kubernetes.
func TestNumbersOfParams(t *testing.T) {
	custom := limit("blue", "custom")
	custom.Object["spec"] = map[string]any{
		"float": 1.5, "whole": 3.0, "zero": math.Copysign(0, -1), "small": -1e-300, "large": 1e300, "long": 4611686018427388928.0, "longest": -9223372036854775808.0,
		"too long": 9223372036854775808.0, "int": int64(3), "null": nil, "list": []any{2.0, 0.5, nil, map[string]any{"whole": 1e3}}, "empty": map[string]any{},
	}
	text, err := custom.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	want := &unstructured.Unstructured{}
	if err := want.UnmarshalJSON(text); err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		s, source := started(t, custom)
		s.serve(limits.GroupVersion(), namespacedLimits)
		kind := source.Open(limitKind)
		defer kind.Close()
		param, err := synced(t, kind).Get(t.Context(), "blue", "custom")
		if diff := cmp.Diff(want, param); diff != "" || err != nil {
			t.Errorf("error %v, param (-want +got):\n%s", err, diff)
		}
	})
}
