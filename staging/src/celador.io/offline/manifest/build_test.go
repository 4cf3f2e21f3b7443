// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package manifest_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"celador.io/offline/manifest"
)

func TestNew(t *testing.T) {
	source, err := manifest.Parse("source.yaml", []byte("list:\n- name: a\n- name: b\n  object:\n    x: 1\n"))
	if err != nil {
		t.Fatal(err)
	}
	other, err := manifest.Parse("other.yaml", []byte("y:\n  z: 2\n"))
	if err != nil {
		t.Fatal(err)
	}
	value := json.RawMessage(`{"z": [{"x": 1, "w": {}}, {"y": {"z": "yes"}}], "a": ["1:30", "a: b", "plain", "two\nlines\n", "0x1", "1e3", null, true, 1.5, ""]}`)
	document, err := manifest.New(value, map[string]manifest.Origin{
		"": {Document: source[0]}, "z[0]": {Document: source[0], Path: "list[1].object"}, "z[1]": {Document: other[0]},
	})
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		"": "source.yaml:1: p", "z": "source.yaml:1: p", "z[0].x": "source.yaml:5: list[1].object.x: p", "z[0].w": "source.yaml:4: list[1].object: p",
		"z[1].y.z": "other.yaml:2: y.z: p", "z[1].y.missing": "other.yaml:1: y.missing: p",
		// The whole path of a field that neither document has, unless the value has no counterpart.
		"z[0].missing": "source.yaml:4: list[1].object.missing: p", "z[1].y.a[0].b": "other.yaml:1: y.a[0].b: p", "z[0].w.missing": "source.yaml:4: list[1].object: p",
	} {
		if got := document.Errorf(path, "p").Error(); got != want {
			t.Errorf("error at %q is %s, want %s", path, got, want)
		}
	}
	field := document.Field("z[1]", []byte(`{"y": {"z": "yes"}}`))
	if got, want := field.Errorf("y.z", "p").Error(), "other.yaml:2: y.z: p"; got != want {
		t.Errorf("error %s, want %s", got, want)
	}
	text, err := document.YAML()
	if err != nil {
		t.Fatal(err)
	}
	read, err := manifest.Parse("read.yaml", text)
	if err != nil {
		t.Fatal(err)
	}
	var want, got any
	if err := json.Unmarshal(value, &want); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(read[0].Raw(), &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("value of the YAML (-want +got):\n%s\n%s", diff, text)
	}
}
