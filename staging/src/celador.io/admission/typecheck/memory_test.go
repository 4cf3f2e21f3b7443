// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package typecheck_test

import (
	"runtime"
	"testing"
	"weak"

	v1 "celador.io/api/admissionregistration/v1"
	"k8s.io/kube-openapi/pkg/validation/spec"
)

// A checker keeps no reference to policies and schemas, however large they are.
func TestMemoryReturns(t *testing.T) {
	for name, test := range map[string]struct {
		described    func() *spec.Schema
		right, wrong string
		// constructed is an expression that constructs an object with a type error.
		constructed string
	}{
		"wide":      {func() *spec.Schema { return wide(10_000) }, "object.spec.p9999.name == ''", "object.spec.p10000.name == ''", "Object{spec: Object.spec{p9999: Object.spec.p9999{names: ''}}}"},
		"recursive": {tree, "object.child.child.name == ''", "object.child.child.names == ''", "Object{child: Object.child{child: Object.child.child{names: ''}}}"},
	} {
		t.Run(name, func(t *testing.T) {
			c := checker(t, mapperFor(widget), nil)
			described := test.described()
			known := weak.Make(described)
			var checked []weak.Pointer[v1.ValidatingAdmissionPolicy]
			var mutating []weak.Pointer[v1.MutatingAdmissionPolicy]
			for range 10 {
				p := policy(test.right, rule("example.com", "v1", "widgets"), variables("v", "object"), validation(test.wrong))
				checked = append(checked, weak.Make(p))
				result := c.With(servedTypes{mapperFor(widget), schemas{widget: described}}).CheckValidating(p)
				if len(result.Types) != 1 || len(result.Findings) != 1 || result.Findings[0].Field != "spec.validations[1].expression" {
					t.Fatalf("got types %v and findings %v, want one", result.Types, result.Findings)
				}
				m := mutatingPolicy([]v1.Mutation{inline(test.constructed)}, rule("example.com", "v1", "widgets"))
				mutating = append(mutating, weak.Make(m))
				result = c.With(servedTypes{mapperFor(widget), schemas{widget: described}}).CheckMutating(m)
				if len(result.Types) != 1 || len(result.Findings) != 1 {
					t.Fatalf("got types %v and findings %v, want one", result.Types, result.Findings)
				}
			}
			described = nil
			for range 3 { // pooled objects survive one collection
				runtime.GC()
			}
			if known.Value() != nil {
				t.Error("the schema is still in memory")
			}
			for i, p := range checked {
				if p.Value() != nil {
					t.Errorf("policy %d is still in memory", i)
				}
			}
			for i, m := range mutating {
				if m.Value() != nil {
					t.Errorf("mutating policy %d is still in memory", i)
				}
			}
			runtime.KeepAlive(c)
		})
	}
}
