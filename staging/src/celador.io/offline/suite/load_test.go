// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package suite_test

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"celador.io/offline/manifest"
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
		{"contradictions", header + `cases:
- {name: a, request: {object: pod.yaml}, expect: {decision: Denied, allowed: true}}
- {name: b, request: {object: pod.yaml}, expect: {decision: Rejected, allowed: true}}
- {name: c, request: {object: pod.yaml}, expect: {decision: Allowed, allowed: false}}
- {name: d, request: {object: pod.yaml}, expect: {decision: NoMatch, violations: 1}}
- {name: e, request: {object: pod.yaml}, expect: {decision: Error, violations: 0}}
- {name: f, request: {object: pod.yaml}, expect: {decision: Denied, violations: 0, message: other}}
- {name: g, request: {object: pod.yaml}, expect: {decision: Allowed, violations: 1, allowed: true}}
- {name: h, request: {object: pod.yaml}, expect: {decision: Denied, allowed: false}}
`, []string{
			"suite.yaml:4: cases[0].expect.allowed: contradicts decision: the server does not perform a request with the decision Denied",
			"suite.yaml:5: cases[1].expect.allowed: contradicts decision: the server does not perform",
			"suite.yaml:6: cases[2].expect.allowed: contradicts decision: the server performs a request with the decision Allowed",
			"suite.yaml:7: cases[3].expect.violations: contradicts decision: no policy applies",
			"suite.yaml:8: cases[4].expect.violations: contradicts decision: a request with the decision Error violates",
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
- sub/**/none*.yaml
- apiVersion: v1
  kind: Namespace
  metadata: {name: on}
- {apiVersion: v1, kind: Namespace}
- sub
cases:
- {name: a, request: {object: pod.yaml}, expect: {decision: NoMatch}}
`, []string{
			"suite.yaml:4: manifests[0]: no file", "suite.yaml:6: manifests[2]: must be an object, or the path of a file",
			"suite.yaml:9: manifests[3].metadata.name: ConfigMap \"a\" is already in ", "suite.yaml:10: manifests[4].apiVersion: required",
			"broken.yaml:1: not valid YAML: ", "suite.yaml:12: manifests[6]: [.yaml is not a pattern of files",
			"suite.yaml:13: manifests[7]: no file matches ", "suite.yaml:16: manifests[8].metadata.name: must be a string, not true: put quotes around it", "suite.yaml:17: manifests[9].metadata.name: required",
			"suite.yaml:18: manifests[10]: sub is a directory: write sub/*.yaml",
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
- name: pattern
  request: {object: "*.yaml"}
  expect: {decision: NoMatch}
`, []string{
			"suite.yaml:5: cases[0].request.object: the file two-configmaps.yaml has 2 objects, want 1", "suite.yaml:8: cases[1].request.object: no file ",
			"suite.yaml:11: cases[2].request.object: must be an object, or the path of a file with one",
			"suite.yaml:14: cases[3].request.object: no file *.yaml: only manifests may be patterns",
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
  request: {object: pod.yaml, resource: {resource: pods}, time: "0001-01-01T00:00:00Z"}
  expect: {decision: NoMatch}
`, []string{
			`suite.yaml:5: cases[0].request.operation: unknown operation "create", want CREATE`, "suite.yaml:8: cases[1].request.object: required: an UPDATE sends",
			"suite.yaml:11: cases[2].request.object: a DELETE sends no object", "suite.yaml:11: cases[2].request.oldObject: required",
			"suite.yaml:14: cases[3].request.resource: required", "suite.yaml:17: cases[4].request.resource: version and resource", "suite.yaml:17: cases[4].request.time: must be later",
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
- name: message of any decision
  request: {object: pod.yaml}
  expect: {allowed: false, message: a}
- name: object of a rejection
  request: {object: pod.yaml}
  expect: {allowed: false, object: {spec: {}}}
- name: negative number
  request: {object: pod.yaml}
  expect: {violations: -1}
- name: note about an unknown decision
  skip: why not
  notes: {Deny: a}
`, []string{
			`suite.yaml:6: cases[0].expect.decision: unknown decision "Deny": want`, `suite.yaml:9: cases[1].expect.policy: no policy of the manifests has the name "a"`,
			"suite.yaml:15: cases[2].expect.messagePattern: set either", "suite.yaml:15: cases[2].expect.messagePattern: not a regular expression",
			"suite.yaml:18: cases[3].expect.decision: no policy applies", "suite.yaml:21: cases[4].expect.decision: the server rejects", "suite.yaml:24: cases[5].expect.decision: a request that is not allowed",
			"suite.yaml:27: cases[6].expect.allowed: the answer to the whole request", "suite.yaml:30: cases[7].expect.decision: a request that is not allowed", "suite.yaml:33: cases[8].expect.violations: must not be negative",
			`suite.yaml:36: cases[9].notes.Deny: unknown decision "Deny": want`,
		}},
		{"patches", header + `cases:
- name: operations
  request: {object: pod.yaml}
  expect:
    decision: Allowed
    patch:
    - {}
    - {op: remove, path: ""}
    - {op: add, path: /a}
    - {op: test, path: a, value: 1}
    - {op: move, path: /a}
    - {op: add, path: /a, value: null}
`, []string{
			"suite.yaml:9: cases[0].expect.patch[0].op: unknown operation \"\", want one of add, copy, move, remove, replace, test",
			`suite.yaml:10: cases[0].expect.patch[1].path: "" does not point into the object`, "suite.yaml:11: cases[0].expect.patch[2].value: required with op: add",
			`suite.yaml:12: cases[0].expect.patch[3].path: "a" does not point`, `suite.yaml:13: cases[0].expect.patch[4].from: "" does not`,
		}},
		{"policies and bindings", header + `manifests:
- {apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingAdmissionPolicy, metadata: {name: a}, spec: {validations: [{expression: "true"}]}}
- {apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingAdmissionPolicy, metadata: {name: both}}
- {apiVersion: admissionregistration.k8s.io/v1, kind: MutatingAdmissionPolicy, metadata: {name: both}}
- {apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingAdmissionPolicyBinding, metadata: {name: of-a}, spec: {policyName: a}}
- {apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingAdmissionPolicyBinding, metadata: {name: of-none}, spec: {policyName: none}}
cases:
- {name: a, request: {object: pod.yaml}, expect: {decision: Denied, policy: a, binding: of-a, validation: 0}}
- {name: b, request: {object: pod.yaml}, expect: {decision: Denied, policy: a, validation: 1}}
- {name: c, request: {object: pod.yaml}, expect: {decision: Denied, validation: -1}}
- {name: d, request: {object: pod.yaml}, expect: {decision: Denied, policy: both}}
- {name: e, request: {object: pod.yaml}, expect: {decision: Denied, policy: MutatingAdmissionPolicy/both}}
- {name: f, request: {object: pod.yaml}, expect: {decision: Denied, policy: Policy/both}}
- {name: g, request: {object: pod.yaml}, expect: {decision: Denied, policy: a, binding: of-none}}
- {name: h, request: {object: pod.yaml}, expect: {decision: Denied, binding: of-none}}
- {name: i, request: {object: pod.yaml}, expect: {decision: Denied, binding: missing}}
`, []string{
			"suite.yaml:11: cases[1].expect.validation: the policy has no validations[1]: it has 1 validations", "suite.yaml:12: cases[2].expect.validation: must not be negative",
			"suite.yaml:13: cases[3].expect.policy: 2 policies have this name: write ValidatingAdmissionPolicy/both or", `suite.yaml:15: cases[5].expect.policy: unknown kind "Policy"`,
			`suite.yaml:16: cases[6].expect.binding: the policyName of "of-none" is another one`, `suite.yaml:17: cases[7].expect.binding: the policyName of "of-none"`,
			`suite.yaml:18: cases[8].expect.binding: no binding of the manifests has the name "missing"`,
		}},
		{"fields without values", header + `cases:
- name: a
  request:
    object: pod.yaml
    oldObject:
  expect:
    decision: Allowed
    message: ""
    patch:
    warnings:
`, []string{
			"suite.yaml:10: cases[0].expect.message: the field has no value", "suite.yaml:11: cases[0].expect.patch: the field has no value", "suite.yaml:12: cases[0].expect.warnings: the field has no value",
			"suite.yaml:7: cases[0].request.oldObject: the field has no value",
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			directory := write(t, map[string]string{
				"sub/configmap.yaml":  "",
				"suite.yaml":          test.suite,
				"pod.yaml":            "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\n",
				"two-configmaps.yaml": "apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: ConfigMap, metadata: {name: a}}\n- {apiVersion: v1, kind: ConfigMap, metadata: {name: b}}\n",
				"broken.yaml":         "a: [\n",
			})
			_, err := new(suite.Loader).Load(filepath.Join(directory, "suite.yaml"))
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
	tests, err := new(suite.Loader).Load(filepath.Join(directory, "suite.yaml"))
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

func TestPatterns(t *testing.T) {
	configMap := func(name string) string { return "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: " + name + "}\n" }
	for _, test := range []struct{ name, pattern, want string }{
		{"in a directory", "objects/*.yaml", "a"},
		{"in all directories", "objects/**/*.yaml", "a b c"},
		{"below a directory", "objects/*/**/c.yaml", "c"},
		{"zero directories", "objects/**/a.yaml", "a"},
		{"all files", "objects/**", "a b c"},
		{"in a parent directory", "../limits/objects/?.yaml", "a"},
		{"with the suite itself", "*.yaml", "d"},
		{"path with metacharacters", "e[1]/f*.yaml", "f*"},
	} {
		t.Run(test.name, func(t *testing.T) {
			directory := write(t, map[string]string{
				"objects/a.yaml": configMap("a"), "objects/x/b.yaml": configMap("b"), "objects/x/y/c.yaml": configMap("c"), "objects/.git/z.yaml": configMap("z"),
				"d.yaml": configMap("d"), "other.yaml": header, "e[1]/f*.yaml": configMap("'f*'"),
				"suite.yaml": header + "manifests: [" + strconv.Quote(test.pattern) + "]\ncases:\n- {name: a, request: {object: d.yaml}, expect: {decision: NoMatch}}\n",
			})
			tests, err := new(suite.Loader).Load(filepath.Join(directory, "suite.yaml"))
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(tests[0].Objects(), " "); got != test.want {
				t.Errorf("objects %s, want %s", got, test.want)
			}
		})
	}
}

// TestSuiteInDirectoryWithMetacharacters loads a suite whose directory looks like a pattern.
func TestSuiteInDirectoryWithMetacharacters(t *testing.T) {
	text := header + "manifests: ['a*.yaml']\ncases:\n- {name: a, request: {object: a.yaml}, expect: {decision: NoMatch}}\n"
	directory := write(t, map[string]string{"e[1]*/suite.yaml": text, "e[1]*/a.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"})
	if _, err := new(suite.Loader).Load(filepath.Join(directory, "e[1]*", "suite.yaml")); err != nil {
		t.Error(err)
	}
}

func TestDefaultName(t *testing.T) {
	text := header + "cases:\n- {name: a, request: {object: {apiVersion: v1, kind: Pod, metadata: {name: a}}}, expect: {decision: NoMatch}}\n"
	directory := write(t, map[string]string{"suite.yaml": text, "pods.yaml": text})
	for file, want := range map[string]string{"suite.yaml": "limits", "pods.yaml": "pods"} {
		tests, err := new(suite.Loader).Load(filepath.Join(directory, file))
		if err != nil {
			t.Fatal(err)
		}
		if tests[0].Name != want {
			t.Errorf("the name of %s is %s, want %s", file, tests[0].Name, want)
		}
	}
}

// TestFindLinks finds suites in a directory with links and special files. What cannot be read is
// not left out.
func TestFindLinks(t *testing.T) {
	directory := write(t, map[string]string{"a.YAML": header, "sub/b.yaml": header})
	for link, target := range map[string]string{"broken.yaml": "none", "directory.yaml": "sub", "loop.yaml": "loop.yaml", "sub/up.yaml": ".."} {
		if err := os.Symlink(target, filepath.Join(directory, link)); err != nil {
			t.Fatal(err)
		}
	}
	if err := syscall.Mkfifo(filepath.Join(directory, "pipe.yaml"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Chdir(directory)
	got, err := new(suite.Loader).Find(".", directory)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"a.YAML", "broken.yaml", "loop.yaml", "pipe.yaml", "sub/b.yaml"}
	for i, name := range want {
		want[i] = filepath.Join(directory, name)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	for _, name := range []string{"broken.yaml", "loop.yaml", "pipe.yaml"} {
		if _, err := new(suite.Loader).Load(name); err == nil {
			t.Errorf("%s has no error", name)
		}
	}
}

func TestFiles(t *testing.T) {
	directory := write(t, map[string]string{
		"suite.yaml": header + "manifests: [a.yaml]\ncases:\n- {name: a, manifests: [sub/b.yaml], request: {object: c.yaml}, expect: {decision: Allowed, object: e.yaml}}\n",
		"e.yaml":     "{data: null}\n", "a.yaml": "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}\n", "sub/b.yaml": "{apiVersion: v1, kind: ConfigMap, metadata: {name: b}}\n",
		"c.yaml": "{apiVersion: v1, kind: ConfigMap, metadata: {name: c}}\n", "broken.yaml": header + "manifests: [d.yaml]\ncases: []\n", "d.yaml": "a: [\n",
	})
	// A read of this file fails.
	if err := os.Mkdir(filepath.Join(directory, "unreadable"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/proc/self/mem", filepath.Join(directory, "unreadable", "k.yaml")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(directory, "unreadable", "utf16.yaml"), utf16Text(header), 0o600); err != nil {
		t.Fatal(err)
	}
	at := func(names ...string) (paths []string) {
		for _, name := range names {
			paths = append(paths, filepath.Join(directory, name))
		}
		return paths
	}
	tests, err := new(suite.Loader).Load(filepath.Join(directory, "suite.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(at("a.yaml", "c.yaml", "e.yaml", "sub/b.yaml", "suite.yaml"), tests[0].Files()); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	_, err = new(suite.Loader).Load(filepath.Join(directory, "broken.yaml"))
	if diff := cmp.Diff(at("broken.yaml", "d.yaml"), suite.FilesOf(err)); diff != "" {
		t.Errorf("files of errors (-want +got):\n%s", diff)
	}
}

// utf16Text returns text of ASCII in UTF-16 with a byte order mark.
func utf16Text(text string) []byte {
	encoded := []byte("\xff\xfe")
	for i := range len(text) {
		encoded = append(encoded, text[i], 0)
	}
	return encoded
}

func TestFind(t *testing.T) {
	directory := write(t, map[string]string{
		"report.json": `{"apiVersion": "test.celador.io/v1alpha1", "kind": "Report"}`, "workflow.yaml": "steps: [echo apiVersion test.celador.io/v1alpha1]\n",
		"a/broken.yaml": header + "cases: [\n", "a/typo.yaml": "apiVersion: test.celador.io/v1\nkind: Suit\n",
		"b.yaml": header, "a/c.yml": header, "a/d.json": `{"apiVersion": "test.celador.io/v1alpha1"}`, "a/e.yaml": "kind: Pod", "f.txt": header,
		".git/g.yaml": header, ".h.yaml": header, "template/i.yaml": "{{ not YAML }}", "none/j.yaml": "",
	})
	// A read of this file fails.
	if err := os.Mkdir(filepath.Join(directory, "unreadable"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/proc/self/mem", filepath.Join(directory, "unreadable", "k.yaml")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(directory, "unreadable", "utf16.yaml"), utf16Text(header), 0o600); err != nil {
		t.Fatal(err)
	}
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
		{name: "directory", paths: at(""), want: at("a/broken.yaml", "a/c.yml", "a/d.json", "a/typo.yaml", "b.yaml", "unreadable/k.yaml", "unreadable/utf16.yaml")},
		{name: "file of any name, once", paths: at("f.txt", "a", "a/c.yml"), want: at("a/broken.yaml", "a/c.yml", "a/d.json", "a/typo.yaml", "f.txt")},
		{name: "directory without suites", paths: at("none"), err: "none: no suite found: a suite is a YAML file with apiVersion: test.celador.io/v1alpha1 and kind: Suite"},
		{name: "files that cannot be read", paths: at("missing", "f.txt", "unreadable"), want: at("f.txt", "missing", "unreadable/k.yaml", "unreadable/utf16.yaml")},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := new(suite.Loader).Find(test.paths...)
			if (err != nil) != (test.err != "") || err != nil && !strings.HasSuffix(err.Error(), test.err) {
				t.Fatalf("error %v, want %q", err, test.err)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("files (-want +got):\n%s", diff)
			}
		})
	}
}

// A listFormat reads the names of cases, one a line, from files of the extension .list.yaml. It
// detects native suites, too.
type listFormat struct{}

func (listFormat) Detects(file string, content []byte) bool { return !strings.Contains(file, "other") }

func (listFormat) Convert(file string) ([]*manifest.Document, error) {
	documents, err := manifest.Read(file)
	if err != nil {
		return nil, err
	}
	content := map[string]any{"apiVersion": suite.APIVersion, "kind": suite.Kind, "cases": []any{map[string]any{"name": "yes", "request": map[string]any{"object": map[string]any{"a": "b"}}}}}
	document, err := manifest.New(content, map[string]manifest.Origin{"": {Document: documents[0]}, "cases[0]": {Document: documents[0], Path: "list[1]"}})
	return []*manifest.Document{document}, err
}

func TestFormats(t *testing.T) {
	directory := write(t, map[string]string{"a.yaml": "list:\n- a\n- b\n", "b.yaml": header, ".hidden/c.yaml": "list: []", ".hidden/d.yaml": header, ".git/e.yaml": "list: []", "other.yaml": "list: []"})
	loader := &suite.Loader{Formats: []suite.Format{listFormat{}}}
	files, err := loader.Find(directory)
	if err != nil {
		t.Fatal(err)
	}
	for i := range files {
		files[i] = strings.TrimPrefix(files[i], directory+string(filepath.Separator))
	}
	if diff := cmp.Diff([]string{filepath.Join(".hidden", "c.yaml"), "a.yaml", "b.yaml"}, files); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	_, err = loader.Load(filepath.Join(directory, "a.yaml"))
	if want := "a.yaml:3: list[1]: required: a manifest names the type"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("error %v, want %s", err, want)
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
		_, _ = new(suite.Loader).Load(file)
	})
}
