// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"testing"
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
