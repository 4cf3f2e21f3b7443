// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"testing"

	v1 "k8s.io/api/admissionregistration/v1"

	"celador.io/celador/test/benchmark/input"
)

// BenchmarkRequest measures the requests of S1 to S6 one plugin after the other, for
// profiles and for comparisons of two states of the code. Ratios are the command's.
func BenchmarkRequest(b *testing.B) {
	for _, test := range []struct {
		name string
		in   func() situation
	}{
		{"S1", func() situation { return noneMatching(1000) }},
		{"S2", func() situation { return allMatching(100) }},
		{"S3", func() situation { return allMatching(1) }},
		{"S4", manyBound},
		{"S5", manyConfigured},
		{"S6", manySelecting},
	} {
		for i, plugin := range plugins {
			b.Run(fmt.Sprintf("%s/%s", test.name, plugin.name), func(b *testing.B) {
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

// BenchmarkExcluded does the same for S10.
func BenchmarkExcluded(b *testing.B) {
	for _, test := range []struct {
		name     string
		interest func(int) v1.MatchCondition
	}{
		{"own", input.InterestOf},
		{"same", input.SameInterest},
	} {
		for step := range steps {
			for i, plugin := range plugins {
				b.Run(fmt.Sprintf("S10/%s/%s/%s", test.name, steps[step].name, plugin.name), func(b *testing.B) {
					endpoint, err := listen()
					if err != nil {
						b.Fatal(err)
					}
					defer endpoint.close()
					subject, err := exclude(step, i, endpoint, test.interest)
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

// BenchmarkMutating does the same for S11.
func BenchmarkMutating(b *testing.B) {
	for i := range mutators {
		b.Run("S11/"+plugins[i].name, func(b *testing.B) {
			server, err := input.Mutations(mutations)
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
