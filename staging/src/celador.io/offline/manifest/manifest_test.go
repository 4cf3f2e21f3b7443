// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package manifest_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"celador.io/offline/manifest"
)

// pod is the type that tests decode documents to.
type pod struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Metadata   struct {
		Name   string            `json:"name"`
		Labels map[string]string `json:"labels"`
	} `json:"metadata"`
	Containers []struct {
		Name  string `json:"name"`
		Ports []int  `json:"ports"`
	} `json:"containers"`
}

func TestParse(t *testing.T) {
	for _, test := range []struct {
		name, text string
		want       []string // the documents as JSON
	}{
		{"empty", "", nil},
		{"comments only", "# nothing\n---\n# here\n", nil},
		{"one document", "a: 1\n", []string{`{"a":1}`}},
		{"several documents", "---\na: 1\n---\n\n--- # comment\nb: yes\n", []string{`{"a":1}`, `{"b":true}`}},
		{"separator in text", "a: |\n  x\n  ---\n  y\n---x: 1\n", []string{`{"---x":1,"a":"x\n---\ny\n"}`}},
		{"JSON", "{\n\t\"a\": [1, 2]\n}\n", []string{`{"a":[1,2]}`}},
		{"escapes of JSON", `{"a": "\/b\\\/c\u0041", "d\ud83d\ude00": "\ud83dx \u00e9\n"}`, []string{`{"a":"/b\\/cA","d😀":"�x é\n"}`}},
		{"Windows line ends", "a: 1\r\n---\r\nb: 2\r\n", []string{`{"a":1}`, `{"b":2}`}},
		{"aliases", "a: &x {c: 1}\nb: *x\n", []string{`{"a":{"c":1},"b":{"c":1}}`}},
	} {
		t.Run(test.name, func(t *testing.T) {
			documents, err := manifest.Parse("file.yaml", []byte(test.text))
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, document := range documents {
				got = append(got, string(document.Raw()))
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("documents (-want +got):\n%s", diff)
			}
		})
	}
}

func TestErrors(t *testing.T) {
	for _, test := range []struct {
		name, text, want string
	}{
		{"syntax", "a: 1\n---\nb: [\n", "file.yaml:3: not valid YAML"},
		{"tab", "a:\n\tb: 1\n", "file.yaml:2: not valid YAML"},
		{"duplicate key", "x: 1\n---\na:\n  b: 1\n  c: 2\n  b: 3\n", "file.yaml:6: a.b: duplicate key, first in line 4"},
		{"bytes that are not UTF-8", "x: 1\n---\na: 1\nb: \xe9\n", "file.yaml:4: not valid YAML: "},
		{"control character", "a: 1\nb: x\x01\n", "file.yaml:2: not valid YAML: "},
		{"not a number", "a: 1\nb: [.NaN]\n", "file.yaml:2: b[0]: .NaN is not a number of JSON"},
		{"null as a key", "a:\n  null: 1\n", "file.yaml:2: a: a key must be a string"},
		{"object as a key", "a:\n  {b: c}: 1\n", "file.yaml:2: a: a key must be a string"},
		{"two documents", "a: 1\n...\nb: 1\n", "file.yaml:2: not valid YAML: did not find expected <document start>"},
		{"unknown field", "kind: Pod\n---\nkind: Pod\ncontainers:\n- name: a\n- name: b\n  image: x\n", "file.yaml:7: containers[1].image: unknown field"},
		{"field in wrong case", "Kind: Pod\n", "file.yaml:1: Kind: unknown field"},
		{"wrong type", "containers:\n- name: a\n- name: b\n  ports:\n  - 1\n  - x\n", "file.yaml:6: containers[1].ports[1]: a value of type string is not allowed here, want integer"},
		{"wrong type of a field", "metadata:\n  name: 5\n", "file.yaml:2: metadata.name: a value of type number is not allowed here, want string"},
		{"wrong type of an object", "\ncontainers: {}\n", "file.yaml:2: containers: a value of type object is not allowed here, want array"},
		{"scalar", "hello\n", "file.yaml:1: a value of type string is not allowed here, want object"},
	} {
		t.Run(test.name, func(t *testing.T) {
			documents, err := manifest.Parse("file.yaml", []byte(test.text))
			for _, document := range documents {
				if err == nil {
					err = document.Decode(&pod{})
				}
			}
			if err == nil || !strings.HasPrefix(err.Error(), test.want) {
				t.Errorf("error %v, want %q", err, test.want)
			}
		})
	}
}

func TestAllUnknownFieldsAreReported(t *testing.T) {
	documents, err := manifest.Parse("file.yaml", []byte("a: 1\nb: 2\n"))
	if err != nil {
		t.Fatal(err)
	}
	err = documents[0].Decode(&pod{})
	if want := "file.yaml:1: a: unknown field\nfile.yaml:2: b: unknown field"; err == nil || err.Error() != want {
		t.Errorf("error %v, want %q", err, want)
	}
}

func TestPosition(t *testing.T) {
	documents, err := manifest.Parse("file.yaml", []byte(`---
metadata:
  labels: &labels
    app.kubernetes.io/name: web
  annotations: *labels
containers:
- name: a
- {name: b,
   ports: [1]}
`))
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]int{
		"":              2,
		"metadata":      2,
		"metadata.name": 2,
		"metadata.labels[app.kubernetes.io/name]":      4,
		"metadata.labels.app.kubernetes.io/name":       4,
		"metadata.annotations":                         5,
		"metadata.annotations.app.kubernetes.io":       5,
		"metadata.annotations[app.kubernetes.io/name]": 4,
		"containers[0].name":                           7,
		"containers[1].ports[0]":                       9,
		"containers[2]":                                6,
		"containersandmore":                            2,
	} {
		if got := documents[0].Position(path).Line; got != want {
			t.Errorf("%q is in line %d, want %d", path, got, want)
		}
	}
}

func TestItems(t *testing.T) {
	documents, err := manifest.Parse("file.yaml", []byte("apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: Pod}\n- apiVersion: v1\n"))
	if err != nil {
		t.Fatal(err)
	}
	items, err := documents[0].Items()
	if err != nil || len(items) != 2 {
		t.Fatalf("%d items, error %v", len(items), err)
	}
	if object, err := items[0].Object(); err != nil || object.GetKind() != "Pod" {
		t.Errorf("%v, error %v", object, err)
	}
	_, err = items[1].Object()
	if want := "file.yaml:5: items[1].kind: required"; err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("error %v, want %q", err, want)
	}
}

func TestItemsOfTypedLists(t *testing.T) {
	for text, want := range map[string]string{
		"{apiVersion: v1, kind: ConfigMapList, items: [{metadata: {name: a}}]}":                              `[{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"}}]`,
		"{apiVersion: v1, kind: ConfigMapList, items: [{apiVersion: apps/v1, kind: Deployment}]}":            `[{"apiVersion":"apps/v1","kind":"Deployment"}]`,
		"{apiVersion: v1, kind: ConfigMapList, items: []}":                                                   `[]`,
		"{apiVersion: example.com/v1, kind: AllowList, metadata: {name: a}, spec: {}}":                       `[{"apiVersion":"example.com/v1","kind":"AllowList","metadata":{"name":"a"},"spec":{}}]`,
		"{apiVersion: v1, kind: List, items: [{apiVersion: v1, kind: ConfigMap}, {metadata: {name: none}}]}": `[{"apiVersion":"v1","kind":"ConfigMap"},{"metadata":{"name":"none"}}]`,
	} {
		documents, err := manifest.Parse("file.yaml", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		items, err := documents[0].Items()
		if err != nil {
			t.Fatal(err)
		}
		var raw []string
		for _, item := range items {
			raw = append(raw, string(item.Raw()))
		}
		if got := "[" + strings.Join(raw, ",") + "]"; got != want {
			t.Errorf("items of %s are %s, want %s", text, got, want)
		}
	}
}

// TestMismatchError decodes documents as an API server does, whose errors have no indexes and keys.
func TestMismatchError(t *testing.T) {
	for text, want := range map[string]string{
		"kind: Pod\nmetadata:\n  labels:\n    a: x\n    b: 5\n":       "file.yaml:5: metadata.labels.b: a value of type number is not allowed here, want string",
		"containers:\n- name: a\n- name: b\n  ports:\n  - 1\n  - x\n": "file.yaml:6: containers[1].ports[1]: a value of type string is not allowed here, want integer",
		"containers: {a: b}\n":        "file.yaml:1: containers: a value of type object is not allowed here, want array",
		"kind: Pod\nmetadata:\n- a\n": "file.yaml:2: metadata: a value of type array is not allowed here, want object",
		"- a\n":                       "file.yaml:1: a value of type array is not allowed here",
	} {
		documents, err := manifest.Parse("file.yaml", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		mismatch := documents[0].MismatchError(fmt.Errorf("server: %w", json.Unmarshal(documents[0].Raw(), &pod{})))
		if mismatch == nil || !strings.HasPrefix(mismatch.Error(), want) {
			t.Errorf("error %v, want %q", mismatch, want)
		}
	}
	documents, err := manifest.Parse("file.yaml", []byte("kind: Pod\n"))
	if err != nil {
		t.Fatal(err)
	}
	if mismatch := documents[0].MismatchError(errors.New("not found")); mismatch != nil {
		t.Errorf("error %v", mismatch)
	}
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{"a: 1\n---\nb: [1, {c: d}]\n", "{\"a\": 1}", "a: &x\n  b: 1\nc: *x\n<<: *x\n", "---\n...\n---\n", "kind: List\napiVersion: v1\nitems: [{}]"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		documents, err := manifest.Parse("file.yaml", data)
		if err != nil && documents != nil {
			t.Error("documents and an error")
		}
		for _, document := range documents {
			_ = document.Decode(&pod{})
			items, err := document.Items()
			if err != nil {
				continue
			}
			for _, item := range items {
				_, _ = item.Object()
			}
		}
	})
}
