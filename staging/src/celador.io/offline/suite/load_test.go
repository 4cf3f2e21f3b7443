// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package suite_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"celador.io/offline/suite"
)

const header = "apiVersion: test.celador.io/v1alpha1\nkind: Suite\n"

// write writes files to a new directory and returns its path.
func write(t testing.TB, files map[string]string) string {
	t.Helper()
	directory := filepath.Join(t.TempDir(), "limits")
	for name, content := range files {
		path := filepath.Join(directory, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return directory
}

func TestLoadErrors(t *testing.T) {
	for _, test := range []struct {
		name, suite string
		want        []string // the errors, after the directory
	}{
		{"empty file", "", []string{"suite.yaml: the file is empty: a suite has apiVersion"}},
		{"other kind", "apiVersion: v1\nkind: Pod\n", []string{"suite.yaml:1: the document is not a suite"}},
		{"no cases", header + "manifests: []\n", []string{"suite.yaml:1: cases: required: a suite has at least one case"}},
		{"unknown fields", header + "case: []\ncases:\n- name: a\n  expects: {}\n", []string{
			"suite.yaml:3: case: unknown field", "suite.yaml:6: cases[0].expects: unknown field",
		}},
		{"wrong type", header + "cases:\n- name: a\n  expect:\n    decision: Denied\n    validation: x\n", []string{
			"suite.yaml:7: cases[0].expect.validation: a value of type string is not allowed here, want integer",
		}},
		{"empty case", header + "cases:\n- {}\n", []string{
			"suite.yaml:4: cases[0].name: required", "suite.yaml:4: cases[0].request.object: required: a CREATE sends an object", "suite.yaml:4: cases[0].expect.decision: required: want Allowed, Denied",
		}},
		{"names", header + "cases:\n- {name: a, request: {object: pod.yaml}, expect: {decision: NoMatch}}\n- {name: a, request: {object: pod.yaml}, expect: {decision: NoMatch}}\n", []string{
			`suite.yaml:5: cases[1].name: the name "a" is already the name of cases[0]`,
		}},
		{"manifests", header + `manifests:
- missing.yaml
- two*.yaml
- 5
- apiVersion: v1
  kind: ConfigMap
  metadata: {name: a}
- kind: ConfigMap
- broken.yaml
- "[.yaml"
cases:
- {name: a, request: {object: pod.yaml}, expect: {decision: NoMatch}}
`, []string{
			"suite.yaml:4: manifests[0]: no file", "suite.yaml:6: manifests[2]: must be an object, or the path of a file",
			"suite.yaml:9: manifests[3].metadata.name: ConfigMap \"a\" is already in ", "suite.yaml:10: manifests[4].apiVersion: required",
			"suite.yaml:11: manifests[5]: ", "suite.yaml:12: manifests[6]: not a pattern of files",
		}},
		{"objects", header + `cases:
- name: two objects in a file
  request: {object: two-configmaps.yaml}
  expect: {decision: NoMatch}
- name: missing file
  request: {object: missing.yaml}
  expect: {decision: NoMatch}
- name: no object
  request: {object: [1]}
  expect: {decision: NoMatch}
`, []string{
			"suite.yaml:5: cases[0].request.object: the file two-configmaps.yaml has 2 objects, want 1", "suite.yaml:8: cases[1].request.object: open ",
			"suite.yaml:11: cases[2].request.object: must be an object, or the path of a file with one",
		}},
		{"operations", header + `cases:
- name: unknown
  request: {operation: create, object: pod.yaml}
  expect: {decision: NoMatch}
- name: update without object
  request: {oldObject: pod.yaml}
  expect: {decision: NoMatch}
- name: delete with object
  request: {operation: DELETE, object: pod.yaml}
  expect: {decision: NoMatch}
- name: connect without resource
  request: {operation: CONNECT}
  expect: {decision: NoMatch}
- name: resource without version
  request: {object: pod.yaml, resource: {resource: pods}}
  expect: {decision: NoMatch}
`, []string{
			`suite.yaml:5: cases[0].request.operation: unknown operation "create", want CREATE`, "suite.yaml:8: cases[1].request.object: required: an UPDATE sends",
			"suite.yaml:11: cases[2].request.object: a DELETE sends no object", "suite.yaml:11: cases[2].request.oldObject: required",
			"suite.yaml:14: cases[3].request.resource: required", "suite.yaml:17: cases[4].request.resource: version and resource",
		}},
		{"expectations", header + `cases:
- name: unknown decision
  request: {object: pod.yaml}
  expect: {decision: Deny}
- name: names
  request: {object: pod.yaml}
  expect: {decision: Denied, policy: a, binding: b}
- name: patterns
  request: {object: pod.yaml}
  expect:
    decision: Denied
    message: a
    messagePattern: "["
- name: no match
  request: {object: pod.yaml}
  expect: {decision: NoMatch, message: a}
- name: rejected
  request: {object: pod.yaml}
  expect: {decision: Rejected, validation: 1}
- name: object of a denial
  request: {object: pod.yaml}
  expect: {decision: Denied, object: {spec: {}}}
`, []string{
			`suite.yaml:6: cases[0].expect.decision: unknown decision "Deny": want`, `suite.yaml:9: cases[1].expect.policy: no policy of the manifests has the name "a"`,
			`suite.yaml:9: cases[1].expect.binding: no binding of`, "suite.yaml:15: cases[2].expect.messagePattern: set either", "suite.yaml:15: cases[2].expect.messagePattern: not a regular expression",
			"suite.yaml:18: cases[3].expect.decision: no policy applies", "suite.yaml:21: cases[4].expect.decision: the server rejects", "suite.yaml:24: cases[5].expect.decision: a request that is not allowed",
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			directory := write(t, map[string]string{
				"suite.yaml":          test.suite,
				"pod.yaml":            "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\n",
				"two-configmaps.yaml": "apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: ConfigMap, metadata: {name: a}}\n- {apiVersion: v1, kind: ConfigMap, metadata: {name: b}}\n",
				"broken.yaml":         "a: [\n",
			})
			_, err := suite.Load(filepath.Join(directory, "suite.yaml"))
			if err == nil {
				t.Fatal("no error")
			}
			lines := strings.Split(strings.ReplaceAll(err.Error(), directory+string(filepath.Separator), ""), "\n")
			if len(lines) != len(test.want) {
				t.Fatalf("errors:\n%s\nwant:\n%s", strings.Join(lines, "\n"), strings.Join(test.want, "\n"))
			}
			for i := range lines {
				if !strings.HasPrefix(lines[i], test.want[i]) {
					t.Errorf("error %q, want %q", lines[i], test.want[i])
				}
			}
		})
	}
}

func TestLoad(t *testing.T) {
	directory := write(t, map[string]string{
		"suite.yaml": header + "cases:\n- name: a\n  request: {object: objects/pod.yaml}\n  expect: {decision: NoMatch}\n---\n" +
			header + "metadata: {name: other}\nmanifests: [objects/*.yaml]\ncases:\n- name: a\n  request: {operation: DELETE, oldObject: objects/pod.yaml}\n  expect: {decision: NoMatch}\n",
		"objects/pod.yaml": "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\n",
	})
	tests, err := suite.Load(filepath.Join(directory, "suite.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, test := range tests {
		got = append(got, strings.TrimPrefix(test.Position.String(), directory)+" "+test.Name)
	}
	if diff := cmp.Diff([]string{"/suite.yaml:1 limits", "/suite.yaml:8 other"}, got); diff != "" {
		t.Errorf("suites (-want +got):\n%s", diff)
	}
}

func TestFind(t *testing.T) {
	directory := write(t, map[string]string{
		"b.yaml": header, "a/c.yml": header, "a/d.json": `{"apiVersion": "test.celador.io/v1alpha1"}`, "a/e.yaml": "kind: Pod", "f.txt": header,
		".git/g.yaml": header, ".h.yaml": header, "template/i.yaml": "{{ not YAML }}", "none/j.yaml": "",
	})
	at := func(names ...string) (paths []string) {
		for _, name := range names {
			paths = append(paths, filepath.Join(directory, name))
		}
		return paths
	}
	for _, test := range []struct {
		name  string
		paths []string
		want  []string
		err   string
	}{
		{name: "directory", paths: at(""), want: at("a/c.yml", "a/d.json", "b.yaml")},
		{name: "file of any name, once", paths: at("f.txt", "a", "a/c.yml"), want: at("a/c.yml", "a/d.json", "f.txt")},
		{name: "directory without suites", paths: at("none"), err: "none: no suite found: a suite is a YAML file with apiVersion: test.celador.io/v1alpha1 and kind: Suite"},
		{name: "missing path", paths: at("missing"), err: "no such file or directory"},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := suite.Find(test.paths...)
			if (err != nil) != (test.err != "") || err != nil && !strings.HasSuffix(err.Error(), test.err) {
				t.Fatalf("error %v, want %q", err, test.err)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("files (-want +got):\n%s", diff)
			}
		})
	}
}

func FuzzLoad(f *testing.F) {
	for _, seed := range []string{
		header + "cases:\n- name: a\n  request: {object: {apiVersion: v1, kind: Pod, metadata: {name: a}}}\n  expect: {decision: NoMatch, object: {a: null}}\n",
		header + "manifests:\n- suite.yaml\n- [1]\ncases: [{request: {operation: CONNECT}}]\n",
		header + "cases:\n- expect: {patch: [{op: add, path: /a, value: {}}], messagePattern: \"(\"}\n",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, content string) {
		file := filepath.Join(t.TempDir(), "suite.yaml")
		if err := os.WriteFile(file, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
		_, _ = suite.Load(file)
	})
}
