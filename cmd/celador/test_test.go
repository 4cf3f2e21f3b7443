// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"celador.io/offline/foreign"
	"celador.io/offline/report"
)

// copyExample copies the example replica-limit to a new directory, with a change in one file, and
// returns the directory.
func copyExample(t *testing.T, file, old, changed string) string {
	t.Helper()
	const source = "../../examples/replica-limit"
	directory := t.TempDir()
	if err := os.CopyFS(directory, os.DirFS(source)); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(directory, file)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(text), old) {
		t.Fatalf("%s does not contain %q", file, old)
	}
	if err := os.WriteFile(path, []byte(strings.Replace(string(text), old, changed, 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	return directory
}

func TestSuites(t *testing.T) {
	for _, test := range []struct {
		name, file, old, changed string
		args                     []string
		stdout                   string // the end of the output
		stderr                   string // the start of the errors, after the directory
		code                     int
	}{
		{name: "passed", file: "suite.yaml", stdout: "\n6 passed, 0 failed\n"},
		{name: "some", file: "suite.yaml", args: []string{"--run", "^replica-limit/six"}, stdout: "\n2 passed, 0 failed\n"},
		{
			name: "failed", file: "policy.yaml", old: "<= 5", changed: "<= 6", code: 1,
			stdout: "suite.yaml:16: six replicas\n    decision\n        want Denied\n        got  Allowed (policy demo-policy.example.com, binding demo-binding-test.example.com)\n" +
				"        at   policy.yaml:14: object.spec.replicas <= 6\n                             ^^^^^^^^^^^^^^^^^^^^^^^^^ is true\n             object.spec.replicas is 6\n\n5 passed, 1 failed\n",
		},
		{
			name: "coverage", file: "suite.yaml", args: []string{"--min-coverage", "80", "--run", "six"}, code: 1,
			stdout: "\npolicy.yaml:14: spec.validations[0].expression\n    object.spec.replicas was never less than 5\n    object.spec.replicas was never 5\n\n" +
				"2 passed, 0 failed, 1 of 3 branches covered (33%)\n",
			stderr: "celador: 1 of 3 branches covered (33%), less than --min-coverage 80\n",
		},
		{
			name: "control characters", file: "suite.yaml", old: "cases:", changed: "\"c\\e[31m\":", code: 2, stdout: "\n0 passed, 0 failed, 1 unusable\n",
			stderr: `suite.yaml:9: c\x1b[31m: unknown field` + "\n",
		},
		{name: "full coverage", file: "suite.yaml", args: []string{"--min-coverage", "100"}, stdout: "\n6 passed, 0 failed, 3 of 3 branches covered (100%)\n"},
		{name: "percentage", file: "suite.yaml", args: []string{"--min-coverage", "101"}, stderr: "celador: --min-coverage 101 is not a percentage from 0 to 100\n", code: 2},
		{
			name: "invalid policy", file: "policy.yaml", old: "<= 5", changed: "<=", code: 2,
			stdout: "\n0 passed, 0 failed, 6 unusable\n",
		},
		{
			name: "invalid suite", file: "suite.yaml", old: "cases:", changed: "case:", code: 2,
			stdout: "\nsuite.yaml\n    suite.yaml:9: case: unknown field\n\n0 passed, 0 failed, 1 unusable\n", stderr: "suite.yaml:9: case: unknown field\n",
		},
		{name: "no case", file: "suite.yaml", args: []string{"--run", "none"}, stdout: "\n0 passed, 0 failed, 1 unusable\n", stderr: "celador: --run none matches no case\n", code: 2},
		{name: "expression", file: "suite.yaml", args: []string{"--run", "("}, stderr: "celador: --run ( is not a regular expression: ", code: 2},
		{name: "format", file: "suite.yaml", args: []string{"-o", "xml"}, stderr: "celador: -o xml is not a format: want json, junit, sarif, table, tap\n", code: 2},
		{name: "flag", file: "suite.yaml", args: []string{"--nonsense"}, stderr: "celador: unknown flag: --nonsense\n", code: 2},
		{
			name: "exclusive flags", file: "suite.yaml", args: []string{"--watch", "--convert"}, code: 2,
			stderr: "celador: if any flags in the group [init watch convert] are set none of the others can be; [convert watch] were all set\n",
		},
		{name: "missing file", file: "suite.yaml", args: []string{"missing.yaml"}, stdout: "\n0 passed, 0 failed, 1 unusable\n", stderr: "celador: open missing.yaml: no such file or directory\n", code: 2},
	} {
		t.Run(test.name, func(t *testing.T) {
			directory := copyExample(t, test.file, test.old, test.changed)
			command := celador(t, "", append([]string{"test"}, test.args...)...)
			command.Dir = directory
			stdout, stderr, code := run(t, command)
			if !strings.HasSuffix(stdout, test.stdout) || test.stdout == "" && stdout != "" || code != test.code {
				t.Errorf("exit code %d, want %d, output:\n%s\nwant:\n%s", code, test.code, stdout, test.stdout)
			}
			if !strings.HasPrefix(stderr, test.stderr) || test.stderr == "" && stderr != "" {
				t.Errorf("errors:\n%s\nwant:\n%s", stderr, test.stderr)
			}
		})
	}
}

// TestNothingToCover measures the coverage of a suite without expressions.
func TestNothingToCover(t *testing.T) {
	directory := t.TempDir()
	text := "apiVersion: test.celador.io/v1alpha1\nkind: Suite\ncases:\n- name: a\n  request: {object: {apiVersion: v1, kind: ConfigMap, metadata: {name: a}}}\n  expect: {allowed: true}\n"
	if err := os.WriteFile(filepath.Join(directory, "suite.yaml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		arg    string
		code   int
		stderr string
	}{{"--coverage", 0, ""}, {"--min-coverage=0", 0, ""}, {"--min-coverage=1", 1, "celador: --min-coverage 1: no expression was loaded, so there is nothing to cover\n"}} {
		command := celador(t, "", "test", test.arg)
		command.Dir = directory
		if stdout, stderr, code := run(t, command); code != test.code || stderr != test.stderr {
			t.Errorf("%s: exit code %d, errors %q, output:\n%s", test.arg, code, stderr, stdout)
		}
	}
}

// TestUnusableSuite runs a suite beside one that is not usable.
func TestUnusableSuite(t *testing.T) {
	directory := copyExample(t, "suite.yaml", "", "")
	if err := os.WriteFile(filepath.Join(directory, "other.yaml"), []byte("apiVersion: test.celador.io/v1alpha1\nkind: Suite\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	command := celador(t, "", "test")
	command.Dir = directory
	stdout, stderr, code := run(t, command)
	if want := "other.yaml:1: cases: required"; code != exitUnusable || !strings.HasPrefix(stderr, want) || !strings.HasSuffix(stdout, "\n6 passed, 0 failed, 1 unusable\n") {
		t.Errorf("exit code %d, errors %q, want %q, output:\n%s", code, stderr, want, stdout)
	}
}

// TestProblemsInFormats runs unusable input with each format. All formats have the same number of
// errors as the exit code says.
func TestProblemsInFormats(t *testing.T) {
	const broken = "apiVersion: test.celador.io/v1alpha1\nkind: Suite\n"
	for name, test := range map[string]struct {
		other string // a file beside the suite of the example. Empty for none
		args  []string
		cases int // that pass
		want  []string
	}{
		"one of two":     {other: broken, cases: 6, want: []string{"other.yaml:1: cases: required"}},
		"only one":       {other: broken, args: []string{"other.yaml"}, want: []string{"other.yaml:1: cases: required"}},
		"not YAML":       {other: "apiVersion: test.celador.io/v1alpha1\nkind: [\n", cases: 6, want: []string{"other.yaml:", "not valid YAML"}},
		"two documents":  {other: broken + "---\n" + broken, cases: 6, want: []string{"other.yaml:1: cases: required", "other.yaml:4: cases: required"}},
		"kaptest":        {other: "version: v1alpha1\npolicies: [none.yaml]\nvapTestSuites: []\n", cases: 6, want: []string{"other.yaml:2: policies[0]: stat none.yaml"}},
		"kyverno":        {other: "apiVersion: cli.kyverno.io/v1alpha1\nkind: Test\nresults: []\n", cases: 6, want: []string{"other.yaml:3: results: no result has"}},
		"missing file":   {args: []string{"none.yaml"}, want: []string{"none.yaml: no such file or directory"}},
		"no suite":       {args: []string{"policy.yaml"}, want: []string{"policy.yaml:2: the document is not a suite"}},
		"no case":        {args: []string{"--run", "none"}, want: []string{"--run none matches no case"}},
		"no such member": {other: strings.Replace(exampleText(t, "suite.yaml"), "policy.yaml", "none.yaml", 1), cases: 6, want: []string{"other.yaml:", "none.yaml"}},
	} {
		for format := range report.Runs {
			t.Run(name+" "+format, func(t *testing.T) {
				directory := copyExample(t, "suite.yaml", "", "")
				if test.other != "" {
					if err := os.WriteFile(filepath.Join(directory, "other.yaml"), []byte(test.other), 0o600); err != nil {
						t.Fatal(err)
					}
				}
				command := celador(t, "", append([]string{"test", "-o", format}, test.args...)...)
				command.Dir = directory
				stdout, stderr, code := run(t, command)
				if passed, unusable := countsOf(t, format, stdout, test.cases); code != exitUnusable || passed != test.cases || unusable != 1 {
					t.Errorf("exit code %d, %d passed, %d unusable, want %d, %d, 1:\n%s", code, passed, unusable, exitUnusable, test.cases, stdout)
				}
				// Formats escape some characters.
				text := strings.NewReplacer("&#34;", `"`, "&#39;", "'").Replace(stdout)
				for _, want := range test.want {
					if !strings.Contains(text, want) || !strings.Contains(stderr, want) {
						t.Errorf("output:\n%s\nerrors:\n%s\nwant %q in both", stdout, stderr, want)
					}
				}
			})
		}
	}
}

// countsOf returns the numbers of cases that passed and of errors in a document. passing is the
// number of the former for formats that leave them out.
func countsOf(t *testing.T, format, text string, passing int) (passed, unusable int) {
	t.Helper()
	count := func(pattern string) int { return len(regexp.MustCompile(pattern).FindAllString(text, -1)) }
	switch format {
	case "json":
		var got report.Report
		if err := json.Unmarshal([]byte(text), &got); err != nil {
			t.Fatalf("%v: %s", err, text)
		}
		if len(got.Errors) != got.Summary.Unusable {
			t.Errorf("%d errors, but the summary has %d", len(got.Errors), got.Summary.Unusable)
		}
		return got.Summary.Passed, got.Summary.Unusable
	case "junit":
		return count("<testcase ") - count("<error "), count("<error ")
	case "sarif":
		return passing, count(`"ruleId": "unusable"`) // cases that pass are not in it
	case "tap":
		return count("(?m)^ok "), count("(?m)^not ok ")
	}
	return count(" Passed "), count(" Unusable ")
}

// TestConvert compares the results of suites of other tools with those of the native suites that
// --convert prints.
func TestConvert(t *testing.T) {
	directory := t.TempDir()
	if err := os.CopyFS(directory, os.DirFS("../../staging/src/celador.io/offline/foreign/testdata")); err != nil {
		t.Fatal(err)
	}
	files, err := suites.Find(directory)
	if err != nil {
		t.Fatal(err)
	}
	if tools := len(foreign.Formats()); len(files) < tools {
		t.Fatalf("suites %q, want one for each of %d tools", files, tools)
	}
	results := func(files []string) ([]report.SuiteResult, int) {
		stdout, stderr, code := run(t, celador(t, "", append([]string{"test", "-o", "json"}, files...)...))
		var got report.Report
		if err := json.Unmarshal([]byte(stdout), &got); err != nil || stderr != "" {
			t.Fatalf("error %v, %s%s", err, stdout, stderr)
		}
		return got.Suites, code
	}
	want, wantCode := results(files)
	converted := make([]string, len(files))
	for i, file := range files {
		stdout, stderr, code := run(t, celador(t, "", "test", "--convert", file))
		if code != 0 || stderr != "" {
			t.Fatalf("%s: exit code %d: %s", file, code, stderr)
		}
		converted[i] = filepath.Join(filepath.Dir(file), "converted.yaml")
		if err := os.WriteFile(converted[i], []byte(stdout), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	got, code := results(converted)
	if code != wantCode {
		t.Errorf("exit code %d, want %d", code, wantCode)
	}
	// Diffs have times and random UIDs.
	ignore := cmp.FilterPath(func(p cmp.Path) bool {
		field, ok := p.Last().(cmp.StructField)
		return ok && slices.Contains([]string{"Position", "Seconds", "Diffs"}, field.Name())
	}, cmp.Ignore())
	if diff := cmp.Diff(want, got, ignore); diff != "" {
		t.Errorf("results (-original +converted):\n%s", diff)
	}
	_, stderr, code := run(t, celador(t, "", "test", "--convert", directory))
	if code != exitUnusable || !strings.Contains(stderr, "convert one directory at a time") {
		t.Errorf("exit code %d, errors %q", code, stderr)
	}
}

func TestSuitesAsJSON(t *testing.T) {
	stdout, stderr, code := run(t, celador(t, "", "test", "-o", "json", "../../examples/replica-limit/suite.yaml"))
	var got report.Report
	if err := json.Unmarshal([]byte(stdout), &got); err != nil || code != 0 || stderr != "" {
		t.Fatalf("exit code %d, error %v, %s%s", code, err, stdout, stderr)
	}
	if got.Summary != (report.Summary{Passed: 6}) || len(got.Suites) != 1 {
		t.Errorf("report %+v", got)
	}
}
