// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package modelschema_test

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apiserver/pkg/cel/openapi/resolver"
	"k8s.io/kube-openapi/pkg/validation/spec"

	"celador.io/admission/modelschema"
)

// Each model has its name, whatever the extensions of the document are, and the models are left as
// they are.
func TestResolve(t *testing.T) {
	const text = `{"components": {"schemas": {
		"Root": {"properties": {"list": {"items": {"$ref": "#/components/schemas/Node"}}, "map": {"additionalProperties": {"allOf": [{"$ref": "#/components/schemas/Node"}]}}, "plain": {"type": "string"}}, "x-kubernetes-scope-type": "Other"},
		"Node": {"properties": {"next": {"$ref": "#/components/schemas/Node"}, "alias": {"$ref": "#/components/schemas/Alias"}}},
		"Alias": {"$ref": "#/components/schemas/Leaf"},
		"Leaf": {"type": "integer"},
		"Broken": {"items": {"$ref": "#/components/schemas/Missing"}}}}}`
	models, err := modelschema.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	root, err := models.Resolve("Root")
	if err != nil {
		t.Fatal(err)
	}
	list := root.Properties["list"]
	values := root.Properties["map"]
	next, alias := list.Items.Schema.Properties["next"], list.Items.Schema.Properties["alias"]
	plain := root.Properties["plain"]
	for name, found := range map[string]*spec.Schema{"Root": root, "Node": list.Items.Schema, "Alias": &alias, "": &plain} {
		if got := modelschema.NameOf(found); got != name {
			t.Errorf("got %q, want %q", got, name)
		}
	}
	if modelschema.NameOf(values.AdditionalProperties.Schema) != "Node" || modelschema.NameOf(&next) != "Node" || len(next.Properties) > 0 || !alias.Type.Contains("integer") {
		t.Errorf("values %v, next %v, alias %v", values, next, alias)
	}
	if _, err := models.Resolve("Broken"); !errors.Is(err, resolver.ErrSchemaNotFound) {
		t.Errorf("a missing model: %v", err)
	}
	again, err := modelschema.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	before, _ := json.Marshal(again)
	after, _ := json.Marshal(models)
	if diff := cmp.Diff(string(before), string(after)); diff != "" {
		t.Errorf("the models have changed: %s", diff)
	}
}
