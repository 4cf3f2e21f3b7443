// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package mutating_test

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"weak"

	"celador.io/admission/policy"
	"celador.io/admission/policytest"

	v1 "celador.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	apiruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"

	"celador.io/admission/mutating"
	"celador.io/admission/params"
)

// witness is an ObjectDefaulter that keeps weak pointers to the config maps that mutations produce.
type witness struct {
	admission.ObjectInterfaces
	made []weak.Pointer[corev1.ConfigMap]
	// seen is called for each config map, unless it is nil.
	seen func()
}

func (w *witness) GetObjectDefaulter() apiruntime.ObjectDefaulter { return w }

// Default implements runtime.ObjectDefaulter.
func (w *witness) Default(object apiruntime.Object) {
	w.made = append(w.made, weak.Make(object.(*corev1.ConfigMap)))
	if w.seen != nil {
		w.seen()
	}
}

// alive counts the config maps that have not been collected.
func (w *witness) alive() int {
	runtime.GC()
	alive := 0
	for _, made := range w.made {
		if made.Value() != nil {
			alive++
		}
	}
	return alive
}

// mutateSeen applies the policies to the request, with a witness.
func (s subject) mutateSeen(t testing.TB, w *witness) mutating.Result {
	t.Helper()
	w.ObjectInterfaces = interfaces
	result, err := s.engine.Mutate(t.Context(), s.Attributes, w, mutating.Options{Changes: true}, s.snapshot)
	if err != nil || len(result.Failures) > 0 {
		t.Fatalf("got %v, failures %v", err, result.Failures)
	}
	return result
}

// repeated returns n mutations, each for another key.
func repeated(n int, of func(key string) v1.Mutation) []v1.Mutation {
	var mutations []v1.Mutation
	for i := range n {
		mutations = append(mutations, of(fmt.Sprintf("k%d", i)))
	}
	return mutations
}

var kindsOfMutation = map[string]func(key string) v1.Mutation{
	"JSON patch": func(key string) v1.Mutation { return policytest.SetData(key, "'v'") },
	"expression": func(key string) v1.Mutation {
		return inline(`JSONPatch{op: "add", path: "/data/` + key + `", value: "v"}`)
	},
	"apply configuration": func(key string) v1.Mutation {
		return policytest.ApplyConfiguration(`Object{data: {"` + key + `": "v"}}`)
	},
	"merge patch":           func(key string) v1.Mutation { return jsonMerge(`{"data": {"` + key + `": "v"}}`) },
	"strategic merge patch": func(key string) v1.Mutation { return strategic(`{"data": {"` + key + `": "v"}}`) },
}

// The engine holds only a fixed number of intermediate objects, however many mutations apply, and
// none after the request.
func TestIntermediateObjectsAreCollected(t *testing.T) {
	const (
		mutations = 30
		// limit counts the object before the mutation, the object after it, and the object that
		// expressions last read.
		limit = 3
	)
	check := func(t *testing.T, s subject, w *witness) {
		t.Helper()
		during := 0
		w.seen = func() {
			if len(w.made)%mutations == 0 {
				during = max(during, w.alive())
			}
		}
		result := s.mutateSeen(t, w)
		if len(result.Mutations) < mutations {
			t.Fatalf("%d mutations were applied, want %d", len(result.Mutations), mutations)
		}
		for i := range result.Mutations[:mutations] {
			if m := &result.Mutations[i]; m.Changed != (m.Run == 0) {
				t.Errorf("round %d, mutation %d: changed is %t", m.Run, m.Index, m.Changed)
			}
		}
		if during > limit {
			t.Errorf("%d objects are held during the request, want %d at most", during, limit)
		}
		if after := w.alive(); after > 0 {
			t.Errorf("%d objects are held by the result", after)
		}
		runtime.KeepAlive(result)
		runtime.KeepAlive(s)
	}
	for name, of := range kindsOfMutation {
		t.Run(name, func(t *testing.T) {
			s := create(on, configMap("a", "1"), ifNeeded(policytest.Mutating("p", repeated(mutations, of)...)))
			check(t, s, &witness{})
			s.GetReinvocationContext().SetIsReinvoke()
			s.GetObject().(*corev1.ConfigMap).Data["other"] = "plugin"
			check(t, s, &witness{})
		})
	}
	t.Run("params by selector", func(t *testing.T) {
		check(t, createWithParams(configMap("a", "1"), mutations, `[JSONPatch{op: "add", path: "/data/" + params.metadata.name, value: "v"}]`), &witness{})
	})
}

// createWithParams returns a request to create the object. A policy applies the JSON patch once for
// each of n params.
func createWithParams(object apiruntime.Object, n int, patch string) subject {
	s := create(on, object)
	p := policytest.Mutating("p", policytest.JSONPatch(patch))
	p.Spec.ParamKind = &v1.ParamKind{APIVersion: "example.com/v1", Kind: "Limit"}
	b := &v1.MutatingAdmissionPolicyBinding{ObjectMeta: metav1.ObjectMeta{Name: "p"}, Spec: v1.MutatingAdmissionPolicyBindingSpec{
		PolicyName: "p", ParamRef: &v1.ParamRef{Selector: &metav1.LabelSelector{}, ParameterNotFoundAction: new(v1.DenyAction)},
	}}
	var found paramList
	for i := range n {
		param := &unstructured.Unstructured{Object: map[string]any{}}
		param.SetName(fmt.Sprintf("k%d", i))
		found = append(found, param)
	}
	store := mutating.NewEngine(mutating.Config{Config: policy.Config{Features: on, Params: found}}).NewStore()
	store.Set(p)
	store.Set(b)
	s.snapshot = store.Snapshot()
	return s
}

// paramList is a params.Source that returns the same cluster-scoped objects for any kind.
type paramList []*unstructured.Unstructured

func (l paramList) Open(schema.GroupVersionKind) params.Handle { return l }

func (l paramList) Close() {}

func (l paramList) Lister(context.Context) (params.Lister, error) { return l, nil }

func (l paramList) Namespaced() bool { return false }

func (l paramList) Synced() <-chan struct{} {
	synced := make(chan struct{})
	close(synced)
	return synced
}

func (l paramList) Get(context.Context, string, string) (*unstructured.Unstructured, error) {
	return l[0], nil
}

func (l paramList) List(string, labels.Selector) ([]*unstructured.Unstructured, error) { return l, nil }

// BenchmarkLargeObject measures a request that changes a large object by many mutations.
// "live-B" is the memory in use at the last mutation.
func BenchmarkLargeObject(b *testing.B) {
	const mutations = 50
	large := configMap()
	for i := range 5_000 {
		large.Data[fmt.Sprintf("large-%d", i)] = strings.Repeat("v", 32)
	}
	request := func(name string) subject {
		if name == "params by selector" {
			return createWithParams(large.DeepCopy(), mutations, `[JSONPatch{op: "add", path: "/data/" + params.metadata.name, value: "v"}]`)
		}
		return create(on, large.DeepCopy(), policytest.Mutating("p", repeated(mutations, kindsOfMutation[name])...))
	}
	for _, name := range []string{"JSON patch", "apply configuration", "merge patch", "params by selector"} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				request(name).mutateSeen(b, &witness{})
			}
			w := &witness{}
			var before, after runtime.MemStats
			s := request(name)
			runtime.GC()
			runtime.ReadMemStats(&before)
			w.seen = func() {
				if len(w.made) == mutations {
					runtime.GC()
					runtime.ReadMemStats(&after)
				}
			}
			s.mutateSeen(b, w)
			b.ReportMetric(float64(after.HeapAlloc)-float64(before.HeapAlloc), "live-B")
		})
	}
}
