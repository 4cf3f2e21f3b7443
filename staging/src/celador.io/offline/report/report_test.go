// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package report_test

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"celador.io/offline/cluster"
	"celador.io/offline/coverage"
	"celador.io/offline/manifest"
	"celador.io/offline/report"
	"celador.io/offline/suite"
)

func at(line int) manifest.Position { return manifest.Position{File: "a/suite.yaml", Line: line} }

var explanation = &coverage.Explanation{Text: "a == b && c", Value: "false", Part: "a == b", Values: []coverage.Value{{Text: "a", Value: "1"}, {Text: "b", Value: `"2"`}}}

// results has a case of each kind, and two with the same error.
var results = []suite.Result{{
	Name: "limits", Position: at(1), Cases: []suite.CaseResult{
		{Name: "small", Position: at(5), Decision: suite.Allowed, Response: &cluster.Response{Allowed: true, Warnings: []string{"old"}}, Duration: 1500 * time.Microsecond},
		{Name: "large & #1", Position: at(9), Decision: suite.Allowed, Mismatches: []suite.Mismatch{
			{Field: "decision", Position: at(12), Want: "Denied", Got: "Allowed (policy <p>)"}, {Field: "warnings", Position: at(13), Want: "[]", Got: `["old"]`, Expressions: []suite.Expression{{Position: manifest.Position{File: "p.yaml", Line: 3}, Text: "a ==\n  b && c", Explanation: explanation}}},
		}},
		{
			Name: "changed", Position: at(20), Decision: suite.Allowed,
			Mismatches: []suite.Mismatch{{Field: "object.data.f", Position: at(25), Want: `"6"`, Got: `"7"`}},
			Differences: []suite.Difference{{
				Field: "object",
				Want:  map[string]any{"data": map[string]any{"a": "1", "b": "2", "c": "3", "d": "4", "e": "5", "f": "6"}},
				Got:   map[string]any{"data": map[string]any{"a": "1", "b": "2", "c": "3", "d": "4", "e": "5", "f": "7"}},
			}},
		},
	},
}, {
	Name: "others", Position: manifest.Position{File: "c.yaml", Line: 1}, Cases: []suite.CaseResult{
		{Name: "skipped", Position: manifest.Position{File: "c.yaml", Line: 2}, Skipped: "not # native"},
		{Name: "noted", Position: manifest.Position{File: "c.yaml", Line: 3}, Decision: suite.NoMatch, Note: "a remark"},
	},
}, {
	Name: "broken", Position: manifest.Position{File: "b.yaml", Line: 1}, Cases: []suite.CaseResult{
		{Name: "one", Position: manifest.Position{File: "b.yaml", Line: 4}, Err: errors.Join(&manifest.Error{Position: manifest.Position{File: "p.yaml", Line: 7}, Field: "spec.x", Problem: "unknown field"})},
		{Name: "two", Position: manifest.Position{File: "b.yaml", Line: 8}, Err: errors.Join(&manifest.Error{Position: manifest.Position{File: "p.yaml", Line: 7}, Field: "spec.x", Problem: "unknown field"})},
	},
}}

func write(t *testing.T, format string, results []suite.Result) string {
	t.Helper()
	var out bytes.Buffer
	if err := report.Runs[format](&out, &report.Run{Results: results}); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestTable(t *testing.T) {
	const want = `SUITE    CASE         RESULT     DECISION
limits   small        Passed     Allowed
limits   large & #1   Failed     Allowed
limits   changed      Failed     Allowed
others   skipped      Skipped    <none>
others   noted        Passed     NoMatch
broken   one          Unusable   <none>
broken   two          Unusable   <none>

a/suite.yaml:9: large & #1
    decision
        want Denied
        got  Allowed (policy <p>)
    warnings
        want []
        got  ["old"]
        at   p.yaml:3: a == b && c
                       ^^^^^^ is false
             a is 1
             b is "2"

a/suite.yaml:20: changed
    object.data.f
        want "6"
        got  "7"
    object
        --- want
        +++ got
        @@ -4,4 +4,4 @@
           c: "3"
           d: "4"
           e: "5"
        -  f: "6"
        +  f: "7"

c.yaml:2: skipped
    skipped: not # native

c.yaml:3: noted
    note: a remark

b.yaml:4: one
    p.yaml:7: spec.x: unknown field

2 passed, 2 failed, 2 unusable, 1 skipped
`
	if diff := cmp.Diff(want, write(t, "table", results)); diff != "" {
		t.Errorf("table (-want +got):\n%s", diff)
	}
}

func TestTAP(t *testing.T) {
	const want = `TAP version 14
1..5
ok 1 - limits/small
not ok 2 - limits/large & \#1
  ---
  at:
    file: a/suite.yaml
    line: 9
  problems:
  - 'a/suite.yaml:12: decision: want Denied, got Allowed (policy <p>)'
  - 'a/suite.yaml:13: warnings: want [], got ["old"]'
  - 'p.yaml:3: a == b && c: a == b is false, because a is 1, b is "2"'
  ...
not ok 3 - limits/changed
  ---
  at:
    file: a/suite.yaml
    line: 20
  problems:
  - 'a/suite.yaml:25: object.data.f: want "6", got "7"'
  - |-
    a/suite.yaml:20: object differs:
    --- want
    +++ got
    @@ -4,4 +4,4 @@
       c: "3"
       d: "4"
       e: "5"
    -  f: "6"
    +  f: "7"
  ...
ok 4 - others/skipped # SKIP not \# native
ok 5 - others/noted
`
	if diff := cmp.Diff(want, write(t, "tap", results[:2])); diff != "" {
		t.Errorf("document (-want +got):\n%s", diff)
	}
}

func TestJSON(t *testing.T) {
	var got report.Report
	if err := json.Unmarshal([]byte(write(t, "json", results)), &got); err != nil {
		t.Fatal(err)
	}
	want := report.Report{
		APIVersion: "test.celador.io/v1alpha1", Kind: "Report", Summary: report.Summary{Passed: 2, Failed: 2, Unusable: 2, Skipped: 1},
		Suites: []report.SuiteResult{{Name: "limits", Position: at(1), Cases: []report.CaseResult{
			{Name: "small", Position: at(5), Result: "Passed", Decision: suite.Allowed, Seconds: 0.0015, Warnings: []string{"old"}},
			{Name: "large & #1", Position: at(9), Result: "Failed", Decision: suite.Allowed, Mismatches: []suite.Mismatch{
				{Field: "decision", Position: at(12), Want: "Denied", Got: "Allowed (policy <p>)"}, {Field: "warnings", Position: at(13), Want: "[]", Got: `["old"]`, Expressions: []suite.Expression{{Position: manifest.Position{File: "p.yaml", Line: 3}, Text: "a ==\n  b && c", Explanation: &coverage.Explanation{Value: "false", Part: "a == b", Values: explanation.Values}}}},
			}},
			{
				Name: "changed", Position: at(20), Result: "Failed", Decision: suite.Allowed,
				Mismatches: []suite.Mismatch{{Field: "object.data.f", Position: at(25), Want: `"6"`, Got: `"7"`}},
				Diffs:      map[string]string{"object": changed},
			},
		}}, {Name: "others", Position: results[1].Position, Cases: []report.CaseResult{
			{Name: "skipped", Position: results[1].Cases[0].Position, Result: "Skipped", Skipped: "not # native"},
			{Name: "noted", Position: results[1].Cases[1].Position, Result: "Passed", Decision: suite.NoMatch, Note: "a remark"},
		}}, {Name: "broken", Position: results[2].Position, Cases: []report.CaseResult{
			{Name: "one", Position: results[2].Cases[0].Position, Result: "Unusable", Error: "p.yaml:7: spec.x: unknown field"},
			{Name: "two", Position: results[2].Cases[1].Position, Result: "Unusable", Error: "p.yaml:7: spec.x: unknown field"},
		}}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("report (-want +got):\n%s", diff)
	}
}

// changed is the diff of the case changed.
const changed = `--- want
+++ got
@@ -4,4 +4,4 @@
   c: "3"
   d: "4"
   e: "5"
-  f: "6"
+  f: "7"`

func TestJUnit(t *testing.T) {
	type problem struct {
		Message string `xml:"message,attr"`
		Text    string `xml:",chardata"`
	}
	type testcase struct {
		Name    string   `xml:"name,attr"`
		Line    int      `xml:"line,attr"`
		Failure *problem `xml:"failure"`
		Error   *problem `xml:"error"`
		Skipped *problem `xml:"skipped"`
	}
	var got struct {
		Suites []struct {
			Name     string     `xml:"name,attr"`
			Tests    int        `xml:"tests,attr"`
			Failures int        `xml:"failures,attr"`
			Errors   int        `xml:"errors,attr"`
			Cases    []testcase `xml:"testcase"`
		} `xml:"testsuite"`
	}
	if err := xml.Unmarshal([]byte(write(t, "junit", results)), &got); err != nil {
		t.Fatal(err)
	}
	if len(got.Suites) != 3 || got.Suites[0].Name != "limits" || got.Suites[0].Tests != 3 || got.Suites[0].Failures != 2 || got.Suites[2].Errors != 2 {
		t.Fatalf("suites %+v", got.Suites)
	}
	want := []testcase{
		{Name: "small", Line: 5},
		{Name: "large & #1", Line: 9, Failure: &problem{
			"a/suite.yaml:12: decision: want Denied, got Allowed (policy <p>)",
			"a/suite.yaml:12: decision: want Denied, got Allowed (policy <p>)\na/suite.yaml:13: warnings: want [], got [\"old\"]\np.yaml:3: a == b && c: a == b is false, because a is 1, b is \"2\"",
		}},
		{Name: "changed", Line: 20, Failure: &problem{`a/suite.yaml:25: object.data.f: want "6", got "7"`, `a/suite.yaml:25: object.data.f: want "6", got "7"` + "\na/suite.yaml:20: object differs:\n" + changed}},
	}
	if diff := cmp.Diff(want, got.Suites[0].Cases); diff != "" {
		t.Errorf("cases (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]testcase{{Name: "skipped", Line: 2, Skipped: &problem{Message: "not # native"}}, {Name: "noted", Line: 3}}, got.Suites[1].Cases); diff != "" {
		t.Errorf("cases (-want +got):\n%s", diff)
	}
	if e := got.Suites[2].Cases[0].Error; e == nil || e.Message != "p.yaml:7: spec.x: unknown field" {
		t.Errorf("error %+v", e)
	}
}

func TestSARIF(t *testing.T) {
	var got struct {
		Version string
		Runs    []struct {
			Results []struct {
				RuleID    string
				Message   struct{ Text string }
				Locations []struct {
					PhysicalLocation struct {
						ArtifactLocation struct{ URI string }
						Region           struct{ StartLine int }
					}
				}
			}
		}
	}
	if err := json.Unmarshal([]byte(write(t, "sarif", results)), &got); err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, result := range got.Runs[0].Results {
		place := result.Locations[0].PhysicalLocation
		lines = append(lines, manifest.Position{File: place.ArtifactLocation.URI, Line: place.Region.StartLine}.String()+" "+result.RuleID+" "+result.Message.Text)
	}
	want := []string{
		"a/suite.yaml:12 mismatch limits/large & #1: decision: want Denied, got Allowed (policy <p>)",
		`a/suite.yaml:13 mismatch limits/large & #1: warnings: want [], got ["old"]` + "\n" + `p.yaml:3: a == b && c: a == b is false, because a is 1, b is "2"`,
		`a/suite.yaml:25 mismatch limits/changed: object.data.f: want "6", got "7"`,
		"p.yaml:7 unusable broken/one: p.yaml:7: spec.x: unknown field",
		"p.yaml:7 unusable broken/two: p.yaml:7: spec.x: unknown field",
	}
	if diff := cmp.Diff(want, lines); diff != "" || got.Version != "2.1.0" {
		t.Errorf("version %s, results (-want +got):\n%s", got.Version, diff)
	}
}

// TestControlCharacters prints a name and a message that would control a terminal.
func TestControlCharacters(t *testing.T) {
	results := []suite.Result{{Name: "s", Cases: []suite.CaseResult{{
		Name: "a\n\x1b[2Jb", Mismatches: []suite.Mismatch{{Field: "decision", Want: "Denied\rAllowed", Got: "x\ny"}},
	}}}}
	for _, format := range []string{"table", "tap"} {
		got := write(t, format, results)
		if strings.ContainsAny(got, "\x1b\r") {
			t.Errorf("%s has control characters: %q", format, got)
		}
		if strings.Contains(got, "x\ny") || strings.Contains(got, "a\n") {
			t.Errorf("%s has values in two lines:\n%s", format, got)
		}
	}
}

// TestSARIFLocations writes file names that are not URIs.
func TestSARIFLocations(t *testing.T) {
	for file, want := range map[string]string{
		"a b#c%41/suite.yaml": "a%20b%23c%2541/suite.yaml", "/x/a.yaml": "file:///x/a.yaml", "a:b.yaml": "./a:b.yaml",
	} {
		got := write(t, "sarif", []suite.Result{{Cases: []suite.CaseResult{{Position: manifest.Position{File: file, Line: 1}, Err: errors.New("x")}}}})
		if !strings.Contains(got, strconv.Quote(want)) {
			t.Errorf("no %s in %s", want, got)
		}
	}
}

func TestFormats(t *testing.T) {
	if got := report.Runs.String(); got != "json, junit, sarif, table, tap" {
		t.Errorf("formats %s", got)
	}
	if report.Runs["yaml"] != nil {
		t.Error("yaml is a format")
	}
}

// TestProblems writes a run of which nothing is usable.
func TestProblems(t *testing.T) {
	err := errors.Join(&manifest.Error{Position: at(3), Field: "case", Problem: "unknown field"}, errors.New("and more"))
	run := &report.Run{Problems: []report.Problem{{Name: "a/suite.yaml", File: "a/suite.yaml", Err: err}, {Name: "--run", Err: errors.New("--run x matches no case")}}}
	if got := report.Summarize(run); got != (report.Summary{Unusable: 2}) {
		t.Errorf("summary %+v", got)
	}
	for format := range report.Runs {
		var out bytes.Buffer
		if err := report.Runs[format](&out, run); err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{"a/suite.yaml:3: case: unknown field", "and more", "--run x matches no case"} {
			if !strings.Contains(out.String(), want) {
				t.Errorf("%s has no %q:\n%s", format, want, &out)
			}
		}
	}
}
