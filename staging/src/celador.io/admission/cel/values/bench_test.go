// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package values_test

import (
	"testing"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/cel/common"

	"celador.io/admission/cel/values"
)

// conversions holds the functions of Kubernetes and of this package that convert an object to a CEL
// value.
var conversions = map[string]func(any) ref.Val{
	"upstream": common.SchemalessTypedToVal, "celador": values.Of, "upstream unstructured": convert, "celador unstructured": values.OfUnstructured,
}

func convert(object any) ref.Val {
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	if err != nil {
		return types.WrapErr(err)
	}
	return types.DefaultTypeAdapter.NativeToValue(content)
}

// BenchmarkExpressions measures expressions on a new value ("first") and on a value whose fields
// the same expression has read before ("again").
func BenchmarkExpressions(b *testing.B) {
	object := deployment()
	for name, source := range map[string]string{
		"number": "object.spec.replicas <= 100",
		"list":   "object.spec.template.spec.containers.all(c, c.image.startsWith('registry.example.com/'))",
		"map":    "has(object.metadata.labels) && 'team' in object.metadata.labels",
	} {
		program := compile(b, source)
		for by, of := range conversions {
			activation := map[string]any{"object": nil}
			evaluate := func(b *testing.B) {
				if v, _, err := program.Eval(activation); v != types.True {
					b.Fatal(v, err)
				}
			}
			b.Run(name+"/first/"+by, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					activation["object"] = of(object)
					evaluate(b)
				}
			})
			b.Run(name+"/again/"+by, func(b *testing.B) {
				b.ReportAllocs()
				activation["object"] = of(object)
				for b.Loop() {
					evaluate(b)
				}
			})
		}
	}
}

// BenchmarkPath measures reading a path without evaluating CEL.
func BenchmarkPath(b *testing.B) {
	object := deployment()
	for by, of := range conversions {
		keys := keysOf("spec", "template", "spec", "containers", 2, "image")
		b.Run("first/"+by, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				readPath(of(object), keys)
			}
		})
		b.Run("again/"+by, func(b *testing.B) {
			b.ReportAllocs()
			root := of(object)
			for b.Loop() {
				readPath(root, keys)
			}
		})
	}
}
