// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"testing"
	"time"

	v1 "k8s.io/api/admissionregistration/v1"

	"celador.io/celador/test/benchmark/input"
	"celador.io/celador/test/benchmark/measure"
)

// BenchmarkRequest measures the requests of S1 to S6 with one plugin after the other, for profiles
// and for comparing two commits. The command compares plugins.
func BenchmarkRequest(b *testing.B) {
	for _, test := range []struct {
		name string
		in   func() setup
	}{
		{"S1", func() setup { return noneMatching(1000) }},
		{"S2", func() setup { return allMatching(100) }},
		{"S3", func() setup { return allMatching(1) }},
		{"S4", manyBound},
		{"S5", manyConfigured},
		{"S6", manySelecting},
	} {
		for i, plugin := range plugins {
			b.Run(fmt.Sprintf("%s/%s", test.name, plugin), func(b *testing.B) {
				in := test.in()
				server, err := in.Server()
				if err != nil {
					b.Fatal(err)
				}
				subject, err := start(i, server, in)
				if err != nil {
					b.Fatal(err)
				}
				defer subject.stop()
				b.ReportAllocs()
				for b.Loop() {
					if err := subject.call(); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// BenchmarkCold measures the requests of S2c, and those that 0, 1 and 10 of the policies match. Run
// it with -benchtime 200x: most of its time goes into the eviction of the caches, which does not
// count.
func BenchmarkCold(b *testing.B) {
	for _, test := range []struct {
		matching int
		in       setup
	}{
		{0, noneMatching(100)},
		{1, allMatching(1)},
		{10, allMatching(10)},
		{100, allMatching(100)},
	} {
		for i, plugin := range plugins {
			b.Run(fmt.Sprintf("S2c/%d/%s", test.matching, plugin), func(b *testing.B) {
				server, err := test.in.Server()
				if err != nil {
					b.Fatal(err)
				}
				subject, err := start(i, server, test.in)
				if err != nil {
					b.Fatal(err)
				}
				defer subject.stop()
				cache, samples := measure.NewCache(), []float64(nil)
				b.ReportAllocs()
				for b.Loop() {
					b.StopTimer()
					cache.Evict()
					b.StartTimer()
					begun := time.Now()
					if err := subject.call(); err != nil {
						b.Fatal(err)
					}
					samples = append(samples, float64(time.Since(begun)))
				}
				b.ReportMetric(measure.Percentile(samples, 50), "median-ns")
			})
		}
	}
}

// BenchmarkExcluded measures the requests of S10.
func BenchmarkExcluded(b *testing.B) {
	for _, test := range []struct {
		name      string
		condition func(int) v1.MatchCondition
	}{
		{"own", input.ConditionOf},
		{"same", input.SameCondition},
	} {
		for step := range steps {
			for i, plugin := range plugins {
				b.Run(fmt.Sprintf("S10/%s/%s/%s", test.name, steps[step].name, plugin), func(b *testing.B) {
					endpoint, err := listen()
					if err != nil {
						b.Fatal(err)
					}
					defer endpoint.close()
					subject, err := startWebhooks(step, i, endpoint, test.condition)
					if err != nil {
						b.Fatal(err)
					}
					defer subject.stop()
					b.ReportAllocs()
					for b.Loop() {
						if err := subject.call(); err != nil {
							b.Fatal(err)
						}
					}
				})
			}
		}
	}
}

// BenchmarkMutating measures the request of S11.
func BenchmarkMutating(b *testing.B) {
	for i := range plugins {
		b.Run("S11/"+plugins[i], func(b *testing.B) {
			server, err := input.Mutations(mutatingPolicies)
			if err != nil {
				b.Fatal(err)
			}
			subject, _, err := mutate(i, server)
			if err != nil {
				b.Fatal(err)
			}
			defer subject.stop()
			b.ReportAllocs()
			for b.Loop() {
				if err := subject.call(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
