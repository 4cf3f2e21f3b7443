// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package conversion_test

import (
	"context"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"celador.io/apiextensions-apiserver/pkg/customresource/conversion"
	"celador.io/apiextensions-apiserver/pkg/customresource/schemas"
)

const gatewayFields = `
host: {type: string, maxLength: 253}
timeout: {type: string, maxLength: 20}
retries: {type: integer}
mode: {type: string, maxLength: 20}
routes:
  type: array
  maxItems: 64
  items:
    type: object
    properties:
      name: {type: string, maxLength: 63}
      path: {type: string, maxLength: 253}
      weight: {type: integer}
      headers: {type: object, maxProperties: 16, additionalProperties: {type: string, maxLength: 253}}
      backends: {type: array, maxItems: 16, items: {type: object, properties: {name: {type: string}, port: {type: integer}}}}
`

const newGatewayFields = `
hosts: {type: array, maxItems: 16, items: {type: string, maxLength: 253}}
timeout: {type: string, maxLength: 20}
retry: {type: object, properties: {attempts: {type: integer}, budget: {type: integer}}}
mode: {type: string, maxLength: 20}
routes:
  type: array
  maxItems: 64
  items:
    type: object
    properties:
      name: {type: string, maxLength: 63}
      path: {type: string, maxLength: 253}
      weight: {type: integer}
      headers: {type: object, maxProperties: 16, additionalProperties: {type: string, maxLength: 253}}
      backends: {type: array, maxItems: 16, items: {type: object, properties: {name: {type: string}, port: {type: integer}}}}
`

const gatewayRules = `
- {field: spec.hosts, rule: 'has(self.spec.host) ? [self.spec.host] : null'}
- {field: spec.retry.attempts, rule: 'has(self.spec.retries) ? self.spec.retries : null'}
- {field: spec.mode, rule: self.spec.mode.lowerAscii()}
- {field: spec.timeout, rule: "self.spec.timeout + 's'"}
- {field: "metadata.annotations['example.com/converted']", rule: "self.metadata.name"}
`

const gateway = `{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"g","namespace":"default","uid":"7c1d9a0e-3a52-4f5b-9d8c-0f7a35a3f7a1","resourceVersion":"1234","generation":3,
"creationTimestamp":"2026-01-02T03:04:05Z","labels":{"app":"g","team":"edge"},"annotations":{"example.com/owner":"edge"}},
"spec":{"host":"example.com","timeout":"30","retries":3,"mode":"STRICT","routes":[
{"name":"a","path":"/a","weight":1,"headers":{"x-a":"1","x-b":"2"},"backends":[{"name":"a1","port":80},{"name":"a2","port":80}]},
{"name":"b","path":"/b","weight":1,"headers":{"x-a":"1","x-b":"2"},"backends":[{"name":"b1","port":80},{"name":"b2","port":80}]},
{"name":"c","path":"/c","weight":1,"headers":{"x-a":"1","x-b":"2"},"backends":[{"name":"c1","port":80},{"name":"c2","port":80}]},
{"name":"d","path":"/d","weight":1,"headers":{"x-a":"1","x-b":"2"},"backends":[{"name":"d1","port":80},{"name":"d2","port":80}]}]}}`

// BenchmarkConvert reads a stored object, converts it to another version and encodes the response.
// None changes the version only.
func BenchmarkConvert(b *testing.B) {
	d := widgets(b, gatewayFields, newGatewayFields, gatewayRules)
	if errs, _ := validate(d, nil); len(errs) > 1 {
		b.Fatal(errs)
	}
	pruner := coercer(b, newGatewayFields)
	converter := conversion.New(d)
	rules := func(u *unstructured.Unstructured) *unstructured.Unstructured {
		converted, err := converter.Convert(context.Background(), u, "v2")
		if err != nil {
			b.Fatal(err)
		}
		return converted
	}
	none := func(u *unstructured.Unstructured) *unstructured.Unstructured {
		u.SetGroupVersionKind(schema.GroupVersionKind{Group: "example.com", Version: "v2", Kind: "Widget"})
		return u
	}
	for _, bench := range []struct {
		name    string
		convert func(*unstructured.Unstructured) *unstructured.Unstructured
	}{{"None", none}, {"ConversionRules", rules}} {
		serve := func() {
			u := &unstructured.Unstructured{}
			if err := u.UnmarshalJSON([]byte(gateway)); err != nil {
				b.Fatal(err)
			}
			converted := bench.convert(u)
			if _, err := pruner.Coerce(converted, schemas.Coercion{}); err != nil {
				b.Fatal(err)
			}
			if _, err := converted.MarshalJSON(); err != nil {
				b.Fatal(err)
			}
		}
		b.Run(bench.name+"/object", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				serve()
			}
		})
		b.Run(bench.name+"/list of 1000", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				for range 1000 {
					serve()
				}
			}
		})
	}
	in := &unstructured.Unstructured{}
	if err := in.UnmarshalJSON([]byte(gateway)); err != nil {
		b.Fatal(err)
	}
	b.Run("ConversionRules alone", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			rules(in)
		}
	})
}

// BenchmarkFirst plans the rules.
func BenchmarkFirst(b *testing.B) {
	d := widgets(b, gatewayFields, newGatewayFields, gatewayRules)
	in := &unstructured.Unstructured{}
	if err := in.UnmarshalJSON([]byte(gateway)); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := conversion.New(d).Convert(context.Background(), in, "v2"); err != nil {
			b.Fatal(err)
		}
	}
}

// coercer returns the schemas of the kind Widget in v2.
func coercer(b *testing.B, fields string) *schemas.Schemas {
	b.Helper()
	crd := &apiextensionsv1.CustomResourceDefinition{}
	crd.Spec.Group = "example.com"
	crd.Status.AcceptedNames.Kind = "Widget"
	crd.Spec.Versions = []apiextensionsv1.CustomResourceDefinitionVersion{{
		Name:   "v2",
		Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: properties(b, "type: object\nproperties:\n  spec:\n    type: object\n    properties:\n"+indent(indent(indent(fields))))},
	}}
	s, err := schemas.New(crd, nil)
	if err != nil {
		b.Fatal(err)
	}
	return s
}
