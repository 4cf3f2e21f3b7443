// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package manifest_test

import (
	"strings"
	"testing"

	"celador.io/offline/manifest"
)

// Policies of the polyfill are read as native ones, also as items of a list without types.
func TestPolyfill(t *testing.T) {
	for text, want := range map[string]string{
		"{apiVersion: policy.celador.io/v1, kind: ValidatingAdmissionPolicy}":                "admissionregistration.k8s.io/v1, Kind=ValidatingAdmissionPolicy",
		"{apiVersion: policy.celador.io/v1, kind: MutatingAdmissionPolicyList, items: [{}]}": "admissionregistration.k8s.io/v1, Kind=MutatingAdmissionPolicy",
		"{apiVersion: policy.celador.io/v2, kind: ValidatingAdmissionPolicy}":                "policy.celador.io/v2, Kind=ValidatingAdmissionPolicy",
		"{apiVersion: v1, kind: ConfigMap}":                                                  "/v1, Kind=ConfigMap",
	} {
		documents, err := manifest.Parse("file.yaml", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		items, err := documents[0].Items()
		if err != nil {
			t.Fatal(err)
		}
		object, err := items[0].Object()
		if err != nil {
			t.Fatal(err)
		}
		if got, kind := object.GroupVersionKind().String(), items[0].GroupVersionKind().String(); got != want || kind != want {
			t.Errorf("%s: got an object %s of a document %s, want %s", text, got, kind, want)
		}
	}
}

func TestWithAPIVersions(t *testing.T) {
	change := func(apiVersion, kind string) string {
		if kind == "A" {
			return "x.example.com/" + apiVersion
		}
		return ""
	}
	for name, test := range map[string]struct{ text, want string }{
		"comments and format": {
			"# first\nkind:   A\napiVersion:  v1 # old v1\nspec: {apiVersion: v1}\n---\n# second\napiVersion: \"v1\"\nkind: A\n",
			"# first\nkind:   A\napiVersion:  x.example.com/v1 # old v1\nspec: {apiVersion: v1}\n---\n# second\napiVersion: \"x.example.com/v1\"\nkind: A\n",
		},
		"other kinds":     {"apiVersion: v1\nkind: B\n", "apiVersion: v1\nkind: B\n"},
		"without a kind":  {"apiVersion: v1\n", "apiVersion: v1\n"},
		"no object":       {"- a\n--- \n# nothing\n", "- a\n--- \n# nothing\n"},
		"list of objects": {"apiVersion: v1\nkind: List\nitems:\n- kind: A\n  apiVersion: v1\n- kind: B\n  apiVersion: v1\n", "apiVersion: v1\nkind: List\nitems:\n- kind: A\n  apiVersion: x.example.com/v1\n- kind: B\n  apiVersion: v1\n"},
		"list of a kind":  {"apiVersion: v1\nkind: AList\nitems:\n- {}\n", "apiVersion: x.example.com/v1\nkind: AList\nitems:\n- {}\n"},
		"one line of JSON": {
			`{"é": 1, "items": [{"kind": "A", "apiVersion": "g\/v1"}, {"apiVersion": "v1", "kind": "A"}], "apiVersion": "v1", "kind": "AList"}`,
			`{"é": 1, "items": [{"kind": "A", "apiVersion": "x.example.com/g/v1"}, {"apiVersion": "x.example.com/v1", "kind": "A"}], "apiVersion": "x.example.com/v1", "kind": "AList"}`,
		},
		"Windows line ends": {"kind: A\r\napiVersion: v1\r\n", "kind: A\r\napiVersion: x.example.com/v1\r\n"},
		"quotes":            {"apiVersion: 'v1'\nkind: A\n", "apiVersion: 'x.example.com/v1'\nkind: A\n"},
	} {
		got, err := manifest.WithAPIVersions("file.yaml", []byte(test.text), change)
		if err != nil || string(got) != test.want {
			t.Errorf("%s: got error %v and\n%s\nwant\n%s", name, err, got, test.want)
		}
	}
	for text, want := range map[string]string{
		"a: 1\n---\nversion: &v v1\napiVersion: *v\nkind: A\n": "file.yaml:4: apiVersion: cannot be changed: write it without anchor, alias and escape sequences",
		"apiVersion: &v1 v1\nkind: A\n":                        "file.yaml:1: apiVersion: cannot be changed: write it without anchor, alias and escape sequences",
		"apiVersion: \"\\u0076\\u0031\"\nkind: A\n":            "file.yaml:1: apiVersion: cannot be changed: write it without anchor, alias and escape sequences",
		"a: [\n": "not valid YAML",
	} {
		if _, err := manifest.WithAPIVersions("file.yaml", []byte(text), change); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want %s", text, err, want)
		}
	}
}
