// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package typeconverters_test

import (
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"celador.io/admission/modelschema"

	"celador.io/apiserver/pkg/admission/plugin/typeconverters"
)

// A schema stays the same until the document of its kind changes, and has the names of its models.
func TestSchema(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &server{}
		source := typeconverters.NewSchemas(s, func(version schema.GroupVersion) bool { return version.Group == "" })
		go source.Run(t.Context())
		const document = `{"components": {"schemas": {
			"io.example.Box": {"properties": {"lid": {"allOf": [{"$ref": "#/components/schemas/io.example.Lid"}], "description": "on top"}}, "x-kubernetes-group-version-kind": [{"group": "example.com", "version": "v1", "kind": "Box"}]},
			"io.example.Lid": {"type": "object", "description": "a lid", "properties": {"color": {"type": "string"}}}}}}`
		if found, err := source.Schema(box); err == nil {
			t.Errorf("not published: %v", found)
		}
		s.publish(boxes, document)
		time.Sleep(time.Minute)
		first, err := source.Schema(box)
		if err != nil {
			t.Fatal(err)
		}
		resolved, err := first.Resolve()
		if err != nil {
			t.Fatal(err)
		}
		lid := resolved.Properties["lid"]
		if got := modelschema.NameOf(resolved); got != "io.example.Box" {
			t.Errorf("the root is %q", got)
		}
		if got := modelschema.NameOf(&lid); got != "io.example.Lid" || !lid.Properties["color"].Type.Contains("string") || lid.Description != "" {
			t.Errorf("the lid is %q: %v", got, lid)
		}
		time.Sleep(time.Minute)
		if again, err := source.Schema(box); again != first || err != nil {
			t.Errorf("unchanged: %v, %v", again, err)
		}
		s.publish(boxes, documentOf(box, "color"))
		time.Sleep(time.Minute)
		changed, err := source.Schema(box)
		if err != nil || changed.Number() == first.Number() {
			t.Errorf("changed: %v, %v", changed, err)
		}
		if found, err := source.Schema(box.GroupVersion().WithKind("Crate")); err == nil {
			t.Errorf("another kind: %v", found)
		}
	})
}
