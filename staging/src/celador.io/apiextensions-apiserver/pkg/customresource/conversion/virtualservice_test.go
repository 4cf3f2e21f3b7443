// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package conversion_test

import (
	_ "embed"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	v1 "celador.io/api/apiextensions/v1"

	"celador.io/apiextensions-apiserver/pkg/customresource/conversion"
)

//go:embed testdata/virtualservice.yaml
var virtualService []byte

// TestVirtualService checks that rules are accepted that restructure lists and maps in the lists of
// a list, without limits in the schema, and that an object comes back unchanged.
func TestVirtualService(t *testing.T) {
	var definition struct {
		V1beta1, V1 json.RawMessage
		Converters  []v1.Converter
		Object      map[string]any
	}
	if err := yaml.UnmarshalStrict(virtualService, &definition); err != nil {
		t.Fatal(err)
	}
	d := &conversion.CRDSpec{
		Kind: schema.GroupKind{Group: "networking.istio.io", Kind: "VirtualService"},
		Versions: []conversion.Version{
			{Name: "v1beta1", Schema: structural(t, string(definition.V1beta1))},
			{Name: "v1", Schema: structural(t, string(definition.V1))},
		},
		Converters: definition.Converters,
	}
	errs, warnings := validate(d, nil)
	for _, text := range append(errs, warnings...) {
		// v1 has fields that v1beta1 lacks, and sorting keys takes a loop over all for each of
		// them.
		if !strings.Contains(text, "v1beta1 cannot hold them") && !strings.Contains(text, "objects with long lists are refused") {
			t.Error(text)
		}
	}
	data, err := json.Marshal(definition.Object)
	if err != nil {
		t.Fatal(err)
	}
	in := object(t, string(data))
	out := in.DeepCopy()
	for i, version := range []string{"v1", "v1beta1"} {
		if out, err = convert(t, d, out, version); err != nil {
			t.Fatal(err)
		}
		// Conversion keeps the fields that the version does not have.
		pruning.Prune(out.Object, d.Versions[1-i].Schema, true)
		if headers, _, _ := unstructured.NestedSlice(out.Object, "spec", "summary"); version == "v1" && len(headers) != 2 {
			t.Errorf("got the summary %v, want both headers", headers)
		}
	}
	if diff := cmp.Diff(in.Object, out.Object); diff != "" {
		t.Errorf("there and back (-want +got):\n%s", diff)
	}
}
