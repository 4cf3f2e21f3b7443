// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package validating_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	networkingv1 "k8s.io/api/networking/v1"
	apiruntime "k8s.io/apimachinery/pkg/runtime"

	"celador.io/admission/policyspec"
	"celador.io/admission/policytest"
	"celador.io/admission/validating"
)

const lookedUp = 20_000

// manyIngresses returns Ingresses with a host each, and with an annotation of the given size.
func manyIngresses(size int) []apiruntime.Object {
	all := make([]apiruntime.Object, lookedUp)
	for i := range all {
		one := ingress("blue", fmt.Sprintf("i%d", i), fmt.Sprintf("%d.example", i))
		one.Annotations = map[string]string{"large": strings.Repeat("x", size)}
		all[i] = one
	}
	return all
}

// BenchmarkLookups evaluates 100 policies for a request while 20,000 Ingresses are known. The
// policies of "none" have no lookups, with the feature and without it. Objects of 10 kB show
// whether any is copied.
func BenchmarkLookups(b *testing.B) {
	const policies = 100
	source := newKnown()
	objects := source.kinds[networkingv1.SchemeGroupVersion.WithKind("Ingress")]
	for _, tc := range []struct {
		name, expression string
		features         policyspec.Features
		size             int
	}{
		{"none without feature", "object.metadata.name != '%d'", nil, 0},
		{"none", "object.metadata.name != '%d'", lookupsOn, 0},
		{"get", "lookups.own.get('i%d').value().metadata.name != ''", lookupsOn, 0},
		{"get of 10 kB", "lookups.own.get('i%d').value().metadata.name != ''", lookupsOn, 10_000},
		{"indexed", "lookups.own.indexed('%d.example')[0].metadata.name != ''", lookupsOn, 0},
		{"indexed of 10 kB", "lookups.own.indexed('%d.example')[0].metadata.name != ''", lookupsOn, 10_000},
	} {
		b.Run(tc.name, func(b *testing.B) {
			if err := objects.Replace(manyIngresses(tc.size)); err != nil {
				b.Fatal(err)
			}
			server := newServer()
			engine := validating.NewEngine(validating.Config{Features: tc.features, Lookups: source, Namespaces: server})
			s := engine.NewStore()
			for i := range policies {
				name := fmt.Sprint("p", i)
				p := looking(name, fmt.Sprintf(tc.expression, i))
				p.Spec.Lookups = p.Spec.Lookups[:1]
				if strings.HasPrefix(tc.name, "none") {
					p.Spec.Lookups = nil
				}
				if err := s.Set(p, policytest.Binding(name, name)); err != nil {
					b.Fatal(err)
				}
			}
			request := create(1)
			b.ReportAllocs()
			for b.Loop() {
				result, err := engine.Evaluate(b.Context(), request, server, s.Snapshot())
				if err != nil || len(result.Violations) > 0 {
					b.Fatal(err, result.Violations)
				}
				result.Free()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/policies, "ns/policy")
		})
	}
	b.Run("change", func(b *testing.B) {
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			if err := objects.Set(ingress("blue", fmt.Sprintf("i%d", i%lookedUp), "changed.example")); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkLookupsMemory reports the memory of 20,000 objects apart from the objects themselves, and
// that of an index with one key for each.
func BenchmarkLookupsMemory(b *testing.B) {
	heap := func() int64 {
		runtime.GC()
		var stats runtime.MemStats
		runtime.ReadMemStats(&stats)
		return int64(stats.HeapAlloc)
	}
	kind := networkingv1.SchemeGroupVersion.WithKind("Ingress")
	var ofObjects, ofIndex int64
	for b.Loop() {
		all := manyIngresses(0)
		source := newKnown()
		before := heap()
		if err := source.kinds[kind].Replace(all); err != nil {
			b.Fatal(err)
		}
		with := heap()
		s := validating.NewEngine(validating.Config{Features: lookupsOn, Lookups: source}).NewStore()
		p := looking("p", "true")
		p.Spec.Lookups = p.Spec.Lookups[:1]
		if err := s.Set(p, policytest.Binding("p", "p")); err != nil {
			b.Fatal(err)
		}
		ofObjects, ofIndex = ofObjects+with-before, ofIndex+heap()-with
		runtime.KeepAlive(source)
		runtime.KeepAlive(all)
	}
	b.ReportMetric(float64(ofObjects)/float64(b.N)/lookedUp, "B/object")
	b.ReportMetric(float64(ofIndex)/float64(b.N)/lookedUp, "B/key")
	b.ReportMetric(0, "ns/op")
}
