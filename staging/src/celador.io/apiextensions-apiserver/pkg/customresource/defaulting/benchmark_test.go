// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package defaulting_test

import (
	"testing"

	"celador.io/apiextensions-apiserver/pkg/customresource/defaulting"
)

// BenchmarkDefault defaults an object with five rules whose fields are all set, or all unset, and
// with none.
func BenchmarkDefault(b *testing.B) {
	_, rules := compile(b, chains)
	names := []string{"host", "url", "early", "late", "skipped"}
	for _, bench := range []struct {
		name   string
		rules  *defaulting.Rules
		object map[string]any
	}{
		{"set", rules, object(b, `{metadata: {name: a}, spec: {host: a, port: 1, url: b, early: c, late: d, skipped: e}}`)},
		{"unset", rules, object(b, `{metadata: {name: a}, spec: {port: 1}}`)},
		{"no rules", nil, object(b, `{metadata: {name: a}, spec: {port: 1}}`)},
	} {
		b.Run(bench.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if bench.name == "unset" {
					spec := bench.object["spec"].(map[string]any)
					for _, name := range names {
						delete(spec, name)
					}
				}
				bench.rules.Default(bench.object)
			}
		})
	}
}
