// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package defaulting_test

import (
	"testing"

	"k8s.io/apimachinery/pkg/runtime"

	"celador.io/apiextensions-apiserver/pkg/customresource/defaulting"
)

// BenchmarkDefault defaults an object with five rules whose fields are all set, or all unset, and with none.
func BenchmarkDefault(b *testing.B) {
	_, rules := compile(b, chains)
	all := object(b, `{metadata: {name: a}, spec: {host: a, port: 1, url: b, early: c, late: d, skipped: e}}`)
	none := object(b, `{metadata: {name: a}, spec: {port: 1}}`)
	for _, bench := range []struct {
		name   string
		rules  *defaulting.Rules
		object map[string]any
	}{{"set", rules, all}, {"unset", rules, none}, {"no rules", nil, none}} {
		b.Run(bench.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				b.StopTimer()
				object := runtime.DeepCopyJSON(bench.object)
				b.StartTimer()
				bench.rules.Default(object)
			}
		})
	}
}
