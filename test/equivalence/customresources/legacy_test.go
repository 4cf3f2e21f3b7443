// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package customresources

import (
	"context"
	"testing"
	"time"

	"celador.io/celador/test/equivalence/harness"
)

// TestLegacy compares the servers for definitions in etcd that today's API refuses: with
// spec.preserveUnknownFields, with a schema that is not structural, and without any schema.
func TestLegacy(t *testing.T) {
	t.Parallel()
	p := apart(t)
	definitions := map[string]string{
		"preserving": `"preserveUnknownFields":true,"validation":{"openAPIV3Schema":{"type":"object","properties":{"spec":{"type":"object","properties":{"f0":{"type":"string"},"f1":{"type":"integer"},"replicas":{"type":"integer"}}}}}},"subresources":{"status":{},"scale":{"specReplicasPath":".spec.replicas","statusReplicasPath":".status.replicas"}}`,
		"shapeless":  `"preserveUnknownFields":true,"validation":{"openAPIV3Schema":{"properties":{"spec":{"properties":{"f0":{"type":"string"},"f1":{"anyOf":[{"type":"integer"},{"type":"string"}]}}}}}}`,
		"schemaless": `"preserveUnknownFields":true,"additionalPrinterColumns":[{"name":"F0","type":"string","JSONPath":".spec.f0"}]`,
	}
	for name, spec := range definitions {
		d := definition{
			"metadata": map[string]any{"name": name + ".legacy.example.com"},
			"spec": map[string]any{
				"group": "legacy.example.com", "scope": "Namespaced", "names": map[string]any{"plural": name, "kind": "Kind" + name},
				"versions": []any{
					map[string]any{"name": "v1", "served": true, "storage": true, "schema": map[string]any{"openAPIV3Schema": map[string]any{"type": "object", "properties": map[string]any{"spec": map[string]any{
						"type": "object", "properties": map[string]any{"f0": map[string]any{"type": "string"}, "f1": map[string]any{"type": "integer"}},
					}}}}},
				},
			},
		}
		stored := `{"kind":"CustomResourceDefinition","apiVersion":"apiextensions.k8s.io/v1beta1","metadata":{"name":"` + d.name() + `","uid":"00000000-0000-4000-8000-000000000000","generation":1,"creationTimestamp":"2019-01-01T00:00:00Z"},` +
			`"spec":{"group":"legacy.example.com","version":"v1","names":{"plural":"` + name + `","singular":"kind` + name + `","kind":"Kind` + name + `","listKind":"Kind` + name + `List"},"scope":"Namespaced",` +
			`"versions":[{"name":"v1","served":true,"storage":true},{"name":"v1beta1","served":true,"storage":false}],"conversion":{"strategy":"None"},` + spec + `},` +
			`"status":{"conditions":null,"acceptedNames":{"plural":"","kind":""},"storedVersions":["v1"]}}`
		for _, b := range p.sides {
			_, err := p.store.Put(context.Background(), b.prefix+"/apiextensions.k8s.io/customresourcedefinitions/"+d.name(), stored)
			must(t, err)
			s := b.servers[0]
			eventually(t, s.name+" establishes "+d.name(), func() bool { return s.established(t, d.name()) })
			s.quiet(t, d.name())
			eventually(t, s.name+" serves "+d.name(), func() bool {
				response, err := s.client.Get(s.url + d.path("v1", "none"))
				must(t, err)
				response.Body.Close()
				return response.StatusCode == 200
			})
		}
		time.Sleep(2 * time.Second)
		t.Run(name, func(t *testing.T) {
			c := &comparison{}
			read := request{Method: "GET", Path: definitionsPath + "/" + d.name()}
			c.compare(read, newSession(p.sides[0]).do(t, read), newSession(p.sides[1]).do(t, read))
			update := request{Method: "PATCH", Path: definitionsPath + "/" + d.name(), ContentType: mergePatch, Body: []byte(`{"metadata":{"labels":{"a":"b"}}}`)}
			c.compare(update, newSession(p.sides[0]).do(t, update), newSession(p.sides[1]).do(t, update))
			for _, text := range c.unexplained {
				t.Error(text)
			}
			for number := range uint64(8) {
				g := &generator{harness.NewGenerator(*harness.Seed+30, number)}
				s := g.scenario(d, int(number), false)
				if c := p.run(t, d, s); c.unexplained != nil {
					t.Error(p.describe(t, d, s, number, c))
				}
			}
		})
	}
}
