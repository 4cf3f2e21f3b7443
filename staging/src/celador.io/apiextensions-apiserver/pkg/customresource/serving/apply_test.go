// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package serving

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"

	v1 "celador.io/api/apiextensions/v1"
	"celador.io/apiextensions-apiserver/pkg/customresource/codecs"
	"celador.io/apiextensions-apiserver/pkg/customresource/conversion"
)

// withoutDefaults implements runtime.ObjectDefaulter.
type withoutDefaults struct{}

func (withoutDefaults) Default(runtime.Object) {}

// TestApplyInAnotherVersion covers a manager that moves its manifest to another version. Field managers then convert the
// object without the fields that the manager owned, so rules must guard what they read.
func TestApplyInAnotherVersion(t *testing.T) {
	for name, test := range map[string]struct {
		read string // what the rules read, before the name of the field
		want map[string]any
	}{
		"guarded":     {read: "self.?spec.?", want: map[string]any{"new": "b"}},
		"not guarded": {read: "self.spec."},
	} {
		t.Run(name, func(t *testing.T) {
			c := newRules(t, nil)
			converter := c.safe.(*rulesConverter)
			converter.rules = conversion.New(&conversion.Definition{
				Kind:     schema.GroupKind{Group: "example.com", Kind: "Widget"},
				Versions: []conversion.Version{{Name: "v1", Schema: converter.schemas.Structural("v1")}, {Name: "v2", Schema: converter.schemas.Structural("v2")}},
				Converters: []v1.Converter{
					{FromVersion: "v1", ToVersion: "v2", Rules: []v1.ConversionRule{{Field: "spec.new", Rule: test.read + "old"}}},
					{FromVersion: "v2", ToVersion: "v1", Rules: []v1.ConversionRule{{Field: "spec.old", Rule: test.read + "new"}}},
				},
			})
			apply := func(version string, live runtime.Object, spec map[string]any) (runtime.Object, error) {
				gvk := schema.GroupVersionKind{Group: "example.com", Version: version, Kind: "Widget"}
				manager, err := managedfields.NewDefaultCRDFieldManager(managedfields.NewDeducedTypeConverter(), c.safe, withoutDefaults{}, codecs.Creater{}, gvk, gvk.GroupVersion(), "", nil)
				if err != nil {
					t.Fatal(err)
				}
				return manager.Apply(live, newWidget(version, "w", spec), "manager", false)
			}
			live := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "example.com/v1", "kind": "Widget"}}
			applied, err := apply("v1", live, map[string]any{"old": "a"})
			if err != nil {
				t.Fatal(err)
			}
			inV2, err := c.safe.ConvertToVersion(applied, v2Version)
			if err != nil {
				t.Fatal(err)
			}
			again, err := apply("v2", inV2, map[string]any{"new": "b"})
			if (err == nil) != (test.want != nil) {
				t.Fatalf("got error %v", err)
			}
			if err != nil {
				return
			}
			if diff := cmp.Diff(test.want, again.(*unstructured.Unstructured).Object["spec"]); diff != "" {
				t.Errorf("spec (-want +got):\n%s", diff)
			}
		})
	}
}
