// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package validating_test

import (
	"fmt"
	"testing"

	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"celador.io/admission/policytest"
	"celador.io/admission/validating"
)

// BenchmarkLookups evaluates 100 policies for a request while 20,000 Ingresses are known. The
// policies of "none" read what those of "get" do from the object of the request.
func BenchmarkLookups(b *testing.B) {
	source := newKnown()
	objects := source.kinds[networkingv1.SchemeGroupVersion.WithKind("Ingress")]
	var all []runtime.Object
	for i := range 20_000 {
		all = append(all, ingress("blue", fmt.Sprintf("i%d", i), fmt.Sprintf("%d.example", i)))
	}
	if err := objects.Replace(all); err != nil {
		b.Fatal(err)
	}
	for _, tc := range []struct{ name, expression string }{
		{"none", "object.metadata.name != '%d'"},
		{"get", "lookups.own.get('i%d').value().metadata.name != ''"},
		{"indexed", "lookups.own.indexed('%d.example')[0].metadata.name != ''"},
	} {
		b.Run(tc.name, func(b *testing.B) {
			server := newServer()
			engine := validating.NewEngine(validating.Config{Features: lookupsOn, Lookups: source, Namespaces: server})
			s := engine.NewStore()
			for i := range 100 {
				name := fmt.Sprint("p", i)
				p := looking(name, fmt.Sprintf(tc.expression, i))
				if tc.name == "none" {
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
		})
	}
	b.Run("change", func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			if err := objects.Set(ingress("blue", fmt.Sprintf("i%d", i%20_000), "changed.example")); err != nil {
				b.Fatal(err)
			}
		}
	})
}
