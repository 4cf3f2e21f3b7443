// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package suite_test

import (
	"context"
	_ "embed"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"celador.io/offline/cluster/clustertest"
	"celador.io/offline/suite"
)

// guarded is a suite without cases. Each of its policies matches ConfigMaps with its own label.
//
//go:embed testdata/guarded.yaml
var guarded string

// loadSuite loads the text of a suite.
func loadSuite(t testing.TB, text string) []*suite.Test {
	t.Helper()
	file := filepath.Join(t.TempDir(), "suite.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	tests, err := new(suite.Loader).Load(file)
	if err != nil {
		t.Fatal(err)
	}
	return tests
}

// runSuite runs a suite and returns its only result.
func runSuite(t testing.TB, text string) suite.Result {
	t.Helper()
	results := (&suite.Runner{Backend: clustertest.Backend}).Run(t.Context(), loadSuite(t, text))
	if len(results) != 1 {
		t.Fatalf("%d results", len(results))
	}
	return results[0]
}

func TestExpectations(t *testing.T) {
	const (
		size    = "policy size, binding size-everywhere"
		tooMany = size + ", validation 0: fewer than 3 keys"
	)
	for _, test := range []struct {
		name, policy string // the policy that matches
		data         string
		expect       string
		decision     suite.Conclusion
		want         []string // the mismatches
	}{
		{name: "allowed", policy: "size", data: "{a: b}", expect: "{decision: Allowed, policy: size, binding: size-everywhere}", decision: suite.Allowed},
		{name: "allowed, not denied", policy: "size", data: "{a: b}", expect: "{decision: Denied}", decision: suite.Allowed, want: []string{"decision: want Denied, got Allowed (" + size + ")"}},
		{name: "denied", policy: "size", data: "{a: b, c: d, e: f}", expect: "{decision: Denied, policy: size, validation: 0, message: fewer than 3 keys, reason: Invalid}", decision: suite.Denied},
		{name: "denied, not allowed", policy: "size", data: "{a: b, c: d, e: f}", expect: "{decision: Allowed}", decision: suite.Denied, want: []string{"decision: want Allowed, got Denied (" + tooMany + ")"}},
		{name: "either of two violations", policy: "size", data: "{a: b, c: d, e: f, g: h}", expect: "{decision: Denied, validation: 1, messagePattern: '^fewer than \\d', reason: Forbidden}", decision: suite.Denied},
		{name: "fields of different violations", policy: "size", data: "{a: b, c: d, e: f, g: h}", expect: "{decision: Denied, validation: 1, message: fewer than 3 keys}", decision: suite.Denied, want: []string{`message: want "fewer than 3 keys", got "fewer than 4 keys"`}},
		{name: "other validation", policy: "size", data: "{a: b, c: d, e: f}", expect: "{decision: Denied, validation: 1}", decision: suite.Denied, want: []string{"validation: want 1, got 0 (fewer than 3 keys)"}},
		{name: "other pattern", policy: "size", data: "{a: b, c: d, e: f}", expect: "{decision: Denied, messagePattern: '^3'}", decision: suite.Denied, want: []string{`messagePattern: want "^3", got "fewer than 3 keys"`}},
		{name: "part of a message", policy: "size", data: "{a: b, c: d, e: f}", expect: "{decision: Denied, message: fewer}", decision: suite.Denied, want: []string{`message: want "fewer", got "fewer than 3 keys"`}},
		{name: "no policy matches", policy: "other", data: "{a: b}", expect: "{decision: NoMatch}", decision: suite.NoMatch},
		{name: "no policy matches, not allowed", policy: "other", data: "{a: b}", expect: "{decision: Allowed, policy: size}", decision: suite.NoMatch, want: []string{"decision: want Allowed, got NoMatch ("}},
		{name: "match condition", policy: "size", data: "{exempt: b}", expect: "{decision: Allowed, policy: size}", decision: suite.NoMatch, want: []string{"decision: want Allowed, got NoMatch (" + size + ": a match condition is false)"}},
		{name: "another policy applies", policy: "size", data: "{a: b}", expect: "{decision: NoMatch, policy: advice}", decision: suite.NoMatch},
		{name: "failure beside a violation", policy: "mixed", data: "{a: b}", expect: "{decision: Denied, validation: 1}", decision: suite.Denied, want: []string{"validation: want 1, got 0 (never)"}},
		{name: "expression fails", policy: "failing", data: "{a: b}", expect: "{decision: Error, policy: failing, validation: 0, messagePattern: no such key}", decision: suite.Error},
		{name: "expression fails, not denied", policy: "failing", data: "{a: b}", expect: "{decision: Denied}", decision: suite.Error, want: []string{"decision: want Denied, got Error (policy failing, binding failing-everywhere, validation 0: "}},
		{name: "violation without denial", policy: "advice", data: "{a: b}", expect: "{decision: Allowed, validation: 0, message: think again, auditAnnotations: {advice/keys: '1'}}", decision: suite.Allowed},
		{name: "warnings", policy: "advice", data: "{a: b}", expect: "{decision: Allowed, warnings: []}", decision: suite.Allowed, want: []string{"warnings: want [], got [\"Validation failed for ValidatingAdmissionPolicy 'advice' with binding 'advice-everywhere': think again\"]"}},
		{name: "audit annotations", policy: "advice", data: "{a: b}", expect: "{decision: Allowed, auditAnnotations: {advice/keys: '2', advice/none: x}}", decision: suite.Allowed, want: []string{`auditAnnotations[advice/keys]: want "2", got "1"`, `auditAnnotations[advice/none]: want "x", got no such annotation`}},
		{name: "no violation", policy: "size", data: "{a: b}", expect: "{decision: Allowed, message: x}", decision: suite.Allowed, want: []string{`message: want "x", got no validation is violated`}},
		{name: "performed", policy: "other", data: "{a: b}", expect: "{allowed: true}", decision: suite.NoMatch},
		{name: "performed, not denied", policy: "size", data: "{a: b, c: d, e: f}", expect: "{allowed: true}", decision: suite.Denied, want: []string{"allowed: want true, got false: Denied (" + tooMany + ")"}},
		{name: "not performed", policy: "size", data: "{a/b: c}", expect: "{allowed: false}", decision: suite.Rejected},
		{name: "not decoded", policy: "size", data: "{}, date: {}", expect: "{allowed: false}", decision: suite.Rejected},
		{name: "not decoded, but performed", policy: "size", data: "{}, date: {}", expect: "{allowed: true}", decision: suite.Rejected, want: []string{"allowed: want true, got false: Rejected ("}},
		{name: "two violations", policy: "size", data: "{a: b, c: d, e: f, g: h}", expect: "{violations: 2}", decision: suite.Denied},
		{name: "violations with a message", policy: "size", data: "{a: b, c: d, e: f, g: h}", expect: "{decision: Denied, violations: 1, messagePattern: than 4}", decision: suite.Denied},
		{name: "no violation with a message", policy: "size", data: "{a: b, c: d, e: f}", expect: "{violations: 0, messagePattern: than 4}", decision: suite.Denied},
		{name: "other number of violations", policy: "size", data: "{a: b, c: d, e: f}", expect: "{violations: 2}", decision: suite.Denied, want: []string{"violations: want 2, got 1 (" + tooMany + ")"}},
		{name: "violation of a policy that warns", policy: "advice", data: "{a: b}", expect: "{violations: 1}", decision: suite.Allowed},
		{name: "object", policy: "color", data: "{a: b}", expect: "{decision: Allowed, object: {data: {color: blue, gone: null}}}", decision: suite.Allowed},
		{name: "other object", policy: "color", data: "{a: b}", expect: "{decision: Allowed, object: {data: {a: null, color: red, x: new}}}", decision: suite.Allowed, want: []string{`object.data.a: want no such field, got "b"`, `object.data.color: want "red", got "blue"`, `object.data.x: want "new", got no such field`}},
		{name: "patch", policy: "color", data: "{a: b}", expect: "{decision: Allowed, patch: [{op: add, path: /data/color, value: blue}]}", decision: suite.Allowed},
		{name: "unexpected patch", policy: "color", data: "{a: b}", expect: "{decision: Allowed, patch: []}", decision: suite.Allowed, want: []string{`patch.data.color: want no such field, got "blue"`}},
		{name: "missing patch", policy: "color", data: "{a: b}", expect: "{decision: Allowed, patch: [{op: add, path: /data/color, value: blue}, {op: remove, path: /data/a}]}", decision: suite.Allowed, want: []string{`patch.data.a: want no such field, got "b"`}},
		{name: "patch of nothing", policy: "color", data: "{a: b}", expect: "{decision: Allowed, patch: [{op: remove, path: /data/x}]}", decision: suite.Allowed, want: []string{"patch: want a patch of the object, got "}},
		{name: "object of another policy's denial", policy: "size", data: "{a: b, c: d, e: f}", expect: "{decision: NoMatch, policy: advice, object: {data: {a: b}}}", decision: suite.NoMatch, want: []string{"object: want {\"data\":{\"a\":\"b\"}}, got no object: the server rejects the request: "}},
		{name: "patch of another policy's denial", policy: "size", data: "{a: b, c: d, e: f}", expect: "{decision: NoMatch, policy: advice, patch: []}", decision: suite.NoMatch, want: []string{"patch: want [], got no object: the server rejects the request: "}},
		{name: "invalid object", policy: "size", data: "{a/b: c}", expect: "{decision: Rejected, reason: Invalid, messagePattern: 'data\\[a/b\\]: Invalid value'}", decision: suite.Rejected},
		{name: "invalid object, not denied", policy: "size", data: "{a/b: c}", expect: "{decision: Denied}", decision: suite.Rejected, want: []string{`decision: want Denied, got Rejected (ConfigMap "x" is invalid: `}},
	} {
		t.Run(test.name, func(t *testing.T) {
			result := runSuite(t, guarded+fmt.Sprintf("- name: a\n  request: {object: {apiVersion: v1, kind: ConfigMap, metadata: {name: x, labels: {policy: %s}}, data: %s}}\n  expect: %s\n", test.policy, test.data, test.expect))
			c := result.Cases[0]
			if c.Err != nil {
				t.Fatal(c.Err)
			}
			var got []string
			for _, m := range c.Mismatches {
				got = append(got, m.Field+": want "+m.Want+", got "+m.Got)
			}
			if !slices.EqualFunc(got, test.want, strings.HasPrefix) {
				t.Errorf("mismatches are\n%q, want\n%q", got, test.want)
			}
			if c.Decision != test.decision || c.Passed() != (len(test.want) == 0) {
				t.Errorf("decision %s, passed %t", c.Decision, c.Passed())
			}
		})
	}
}

func TestExpressionsOfMismatches(t *testing.T) {
	const object = "  request: {object: {apiVersion: v1, kind: ConfigMap, metadata: {name: x, labels: {policy: size}}, data: {a: b, c: d, e: f, g: h}}}\n"
	result := runSuite(t, guarded+"- name: decision\n"+object+"  expect: {decision: Allowed}\n- name: message\n"+object+"  expect: {decision: Denied, validation: 1, message: x}\n")
	var got []string
	for _, c := range result.Cases {
		for _, m := range c.Mismatches {
			for _, e := range m.Expressions {
				got = append(got, fmt.Sprintf("%s %d: %s", c.Name, e.Position.Line, e.Text))
			}
		}
	}
	want := []string{"decision 15: size(object.data) < 3", "decision 16: size(object.data) < 4", "message 16: size(object.data) < 4"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("expressions (-want +got):\n%s", diff)
	}
}

func TestDifferences(t *testing.T) {
	const request = "  request: {object: {apiVersion: v1, kind: ConfigMap, metadata: {name: x, labels: {policy: color}}, data: {a: b}}}\n"
	result := runSuite(t, guarded+
		"- name: object\n"+request+"  expect: {decision: Allowed, object: {data: {a: null, color: red}}}\n"+
		"- name: patch\n"+request+"  expect: {decision: Allowed, patch: []}\n"+
		"- name: equal\n"+request+"  expect: {decision: Allowed, object: {data: {color: blue}}, patch: [{op: add, path: /data/color, value: blue}]}\n")
	var got []string
	for _, c := range result.Cases {
		for _, d := range c.Differences {
			got = append(got, fmt.Sprintf("%s %s: want %v, got %v", c.Name, d.Field, d.Want["data"], d.Got["data"]))
		}
	}
	want := []string{"object object: want map[color:red], got map[a:b color:blue]", "patch patch: want map[a:b], got map[a:b color:blue]"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("differences (-want +got):\n%s", diff)
	}
}

func TestProgress(t *testing.T) {
	tests := loadSuite(t, guarded+"- name: a\n  request: {object: {apiVersion: v1, kind: ConfigMap, metadata: {name: x}}}\n  expect: {decision: NoMatch}\n"+
		"- name: b\n  request: {object: {apiVersion: v1, kind: ConfigMap, metadata: {name: x}}}\n  expect: {decision: NoMatch}\n")
	var got [][2]int
	runner := suite.Runner{Backend: clustertest.Backend, Progress: func(done, total int) { got = append(got, [2]int{done, total}) }}
	runner.Run(t.Context(), tests)
	if diff := cmp.Diff([][2]int{{1, 2}, {2, 2}}, got); diff != "" {
		t.Errorf("progress (-want +got):\n%s", diff)
	}
}

func TestUnusableCases(t *testing.T) {
	const object = "- name: a\n  request: {object: {apiVersion: v1, kind: ConfigMap, metadata: {name: x}}}\n  expect: {decision: NoMatch}\n"
	for _, test := range []struct {
		name, text, want string
	}{
		{"unknown field of a policy", strings.Replace(guarded, "    matchConditions:", "    matchCondition:", 1) + object, "suite.yaml:13: manifests[0].spec.matchCondition: unknown field"},
		{"expression does not compile", strings.Replace(guarded, "size(object.data) < 3", "size(object.data <", 1) + object, "suite.yaml:15: manifests[0].spec.validations[0].expression: "},
		{"unknown field of an object", guarded + "- name: a\n  request:\n    object:\n      apiVersion: v1\n      kind: ConfigMap\n      metadata: {name: x}\n      dat: {}\n  expect: {decision: NoMatch}\n", "suite.yaml:80: cases[0].request.object.dat: unknown field"},
		{"unknown option", guarded + "- name: a\n  request:\n    object: {apiVersion: v1, kind: ConfigMap, metadata: {name: x}}\n    options:\n      x: 1\n  expect: {decision: NoMatch}\n", "suite.yaml:78: cases[0].request.options.x: unknown field"},
		{"type of an option", guarded + "- name: a\n  request:\n    oldObject: {apiVersion: v1, kind: ConfigMap, metadata: {name: x}}\n    operation: DELETE\n    options:\n      gracePeriodSeconds: soon\n  expect: {decision: NoMatch}\n", "suite.yaml:79: cases[0].request.options.gracePeriodSeconds: a value of type string is not allowed here, want integer"},
		{
			"rule does not compile", strings.Replace(ruled, "self <= 5", "self <=", 1),
			"suite.yaml:24: manifests[0].spec.versions[0].schema.openAPIV3Schema.properties[size].x-kubernetes-validations[0].rule: ",
		},
		{"type of a field", guarded + "- name: a\n  request:\n    object:\n      apiVersion: v1\n      kind: ConfigMap\n      metadata: {name: x}\n      data:\n        a: x\n        b: 5\n  expect: {decision: NoMatch}\n", "suite.yaml:82: cases[0].request.object.data.b: a value of type number is not allowed here, want string"},
		{"type of a field of a policy", strings.Replace(guarded, "metadata: {name: color}\n", "metadata: {name: color, labels: {a: yes}}\n", 1) + object, "suite.yaml:60: manifests[8].metadata.labels.a: a value of type bool is not allowed here, want string"},
		{"unknown kind", guarded + "- name: a\n  request: {object: {apiVersion: example.com/v1, kind: Thing, metadata: {name: x}}}\n  expect: {decision: NoMatch}\n", "suite.yaml:75: cases[0].request: "},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := runSuite(t, test.text).Cases[0]
			if c.Err == nil {
				t.Fatalf("no error, decision %s", c.Decision)
			}
			message := c.Err.Error()
			if !strings.HasPrefix(message[strings.LastIndex(message[:strings.Index(message, ":")], "/")+1:], test.want) {
				t.Errorf("error %s, want %s", message, test.want)
			}
		})
	}
}

func TestSkipsAndNotes(t *testing.T) {
	const object = "  request: {object: {apiVersion: v1, kind: ConfigMap, metadata: {name: x}}}\n"
	result := runSuite(t, guarded+"- {name: a, skip: not today}\n- name: b\n"+object+"  expect: {decision: NoMatch}\n  notes: {Allowed: none, NoMatch: no policy}\n")
	if c := result.Cases[0]; c.Skipped != "not today" || c.Passed() || c.Err != nil {
		t.Errorf("%+v", c)
	}
	if c := result.Cases[1]; c.Note != "no policy" || !c.Passed() {
		t.Errorf("%+v", c)
	}
}

func TestResultsAreInOrder(t *testing.T) {
	var text strings.Builder
	text.WriteString(guarded)
	for i := range 50 {
		fmt.Fprintf(&text, "- name: case %d\n  request: {object: {apiVersion: v1, kind: ConfigMap, metadata: {name: x, labels: {policy: size}}, data: {a: b}}}\n  expect: {decision: Allowed}\n", i)
	}
	for i, c := range runSuite(t, text.String()).Cases {
		if want := fmt.Sprintf("case %d", i); c.Name != want || !c.Passed() {
			t.Errorf("%s passed %t, want %s", c.Name, c.Passed(), want)
		}
	}
}

func TestCancelledRun(t *testing.T) {
	tests := loadSuite(t, guarded+"- name: a\n  request: {object: {apiVersion: v1, kind: ConfigMap, metadata: {name: x}}}\n  expect: {decision: NoMatch}\n")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	results := (&suite.Runner{Backend: clustertest.Backend}).Run(ctx, tests)
	if results[0].Cases[0].Err == nil {
		t.Error("the case ran")
	}
}
