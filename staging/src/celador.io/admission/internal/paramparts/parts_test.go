// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package paramparts_test

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"celador.io/admission/cel/reads"
	"celador.io/admission/internal/paramparts"
)

// parts returns the set of parts with the given paths. A question mark marks those of which only
// the presence or size is read.
func parts(paths ...string) paramparts.Parts {
	var all []reads.Read
	for _, text := range paths {
		path, extent := strings.CutSuffix(text, "?")
		read := reads.Read{Whole: !extent}
		if path != "" {
			read.Path = strings.Split(path, ".")
		}
		all = append(all, read)
	}
	return paramparts.New(all)
}

func TestNew(t *testing.T) {
	for want, paths := range map[string][]string{
		"":               {},
		".":              {"a", "", "b?"},
		".a":             {"a", "a.b", "a?", "a.b?", "a"},
		".c .a":          {"a.b", "c", "a"},
		".a? .a.b":       {"a?", "a.b", "a.b?"},
		".?":             {"?", "?"},
		".a.b":           {"a.b.[*].c", "a.b.[*].d", "a.b?"},
		".a .b? .c.d .e": {"a", "b?", "c.d", "e.[*]?"},
	} {
		p := parts(paths...)
		if got := p.String(); got != want {
			t.Errorf("%q: parts are %q, want %q", paths, got, want)
		}
		if p.Empty() != (want == "") {
			t.Errorf("%q: empty is %v", paths, p.Empty())
		}
	}
}

func param(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	u := &unstructured.Unstructured{}
	if err := u.UnmarshalJSON([]byte(`{"apiVersion": "v1", "kind": "Limit", ` + strings.TrimPrefix(text, "{"))); err != nil {
		t.Fatal(err)
	}
	return u
}

type values struct {
	scalar any
	text   string
}

func of(p paramparts.Parts, object *unstructured.Unstructured) values {
	scalar, text := p.Of(object, nil)
	return values{scalar, string(text)}
}

func TestOf(t *testing.T) {
	long := strings.Repeat("x", 2000)
	for _, test := range []struct {
		parts []string
		a, b  string
		equal bool
	}{
		{[]string{"a"}, `{"a": 1}`, `{"a": 1, "b": 2}`, true},
		{[]string{"a"}, `{"a": 1}`, `{"a": 2}`, false},
		{[]string{"a"}, `{"a": 1}`, `{"a": "1"}`, false},
		{[]string{"a"}, `{"a": 1}`, `{"a": 1.5}`, false},
		{[]string{"a"}, `{"a": 1}`, `{"a": true}`, false},
		{[]string{"a"}, `{"a": true}`, `{"a": false}`, false},
		{[]string{"a"}, `{"a": 1.5}`, `{"a": 1.5}`, true},
		{[]string{"a"}, `{"a": "x"}`, `{"a": "x"}`, true},
		{[]string{"a"}, `{"a": null}`, `{"b": 1}`, false},
		{[]string{"a"}, `{"a": ""}`, `{"b": 1}`, false},
		{[]string{"a"}, `{"b": 1}`, `{"c": 1, "d": {}}`, true},
		{[]string{"a.b"}, `{"c": 1}`, `{"a": {"c": 1}}`, false},
		{[]string{"a.b"}, `{"a": {"d": 2}}`, `{"a": {"c": 1}}`, true},
		{[]string{"a.b"}, `{"a": {"b": 1}}`, `{"a": {"b": 1, "c": 2}}`, true},
		{[]string{"a.b"}, `{"a": {"b": 1}}`, `{"a": 1}`, false},
		{[]string{"a.b"}, `{"a": "b"}`, `{"a": "c"}`, false},
		{[]string{"a.b"}, `{"a": ["b"]}`, `{"a": ["b", "c"]}`, false},
		{[]string{"a.b"}, `{"a": null}`, `{"a": {}}`, false},
		{[]string{"a"}, `{"a": [1, "b", {"c": null}]}`, `{"a": [1, "b", {"c": null}]}`, true},
		{[]string{"a"}, `{"a": [1, "b", {"c": null}]}`, `{"a": [1, "b", {"d": null}]}`, false},
		{[]string{"a"}, `{"a": ["b", "c"]}`, `{"a": ["bc"]}`, false},
		{[]string{"a"}, `{"a": [["b"], "c"]}`, `{"a": [["b", "c"]]}`, false},
		{[]string{"a"}, `{"a": {"x": 1, "y": 2, "z": 3}}`, `{"a": {"z": 3, "y": 2, "x": 1}}`, true},
		{[]string{"a"}, `{"a": {"x": 1, "y": 2}}`, `{"a": {"x": 2, "y": 1}}`, false},
		{[]string{"a"}, `{"a": []}`, `{"a": {}}`, false},
		{[]string{"a", "b"}, `{"a": "x", "b": "yz"}`, `{"a": "xy", "b": "z"}`, false},
		{[]string{"a", "b"}, `{"a": "x"}`, `{"b": "x"}`, false},
		{[]string{"a", "b"}, `{"a": "x", "b": 1, "c": 1}`, `{"a": "x", "b": 1, "c": 2}`, true},
		{[]string{"a?"}, `{"a": [1]}`, `{"a": [2]}`, true},
		{[]string{"a?"}, `{"a": [1]}`, `{"a": [1, 2]}`, false},
		{[]string{"a?"}, `{"a": {"b": 1}}`, `{"a": {"c": 2}}`, true},
		{[]string{"a?"}, `{"a": {"b": 1}}`, `{"a": [1]}`, false},
		{[]string{"a?"}, `{"a": "xy"}`, `{"a": "é"}`, false},
		{[]string{"a?"}, `{"a": null}`, `{"b": 1}`, false},
		{[]string{"a.b?"}, `{"a": [1]}`, `{"a": [2]}`, false},
		{[]string{"?"}, `{"a": 1}`, `{"b": {}}`, true},
		{[]string{"?"}, `{"a": 1}`, `{"b": 1, "c": 2}`, false},
		{[]string{""}, `{"a": 1}`, `{"a": 1}`, false},
		{nil, `{"a": 1}`, `{"b": 2}`, true},
		// Large values are not compared.
		{[]string{"a"}, `{"a": "` + long + `"}`, `{"a": "` + long + `"}`, false},
		{[]string{"a"}, `{"a": ["` + long + `"]}`, `{"a": ["` + long + `"]}`, false},
		{[]string{"a"}, `{"a": [` + strings.Repeat("1,", 2000) + `1]}`, `{"a": [` + strings.Repeat("1,", 2000) + `1]}`, false},
		{[]string{"a?"}, `{"a": [` + strings.Repeat("1,", 2000) + `1]}`, `{"a": [` + strings.Repeat("2,", 2000) + `1]}`, true},
	} {
		p := parts(test.parts...)
		a, b := param(t, test.a), param(t, test.b)
		if got := of(p, a) == of(p, b); got != test.equal {
			t.Errorf("%q of %.60s and %.60s: equal is %v, want %v", p.String(), test.a, test.b, got, test.equal)
		}
		if of(p, a) != of(p, a) {
			t.Errorf("%q of %.60s differs from itself", p.String(), test.a)
		}
	}
}

// Numbers that CEL tells apart differ, and values that JSON does not have equal only themselves.
func TestOfGoValues(t *testing.T) {
	p := parts("a")
	with := func(a any) *unstructured.Unstructured {
		return &unstructured.Unstructured{Object: map[string]any{"a": a}}
	}
	for _, test := range []struct {
		a, b  any
		equal bool
	}{
		{0.0, math.Copysign(0, -1), false},
		{int64(-1), int64(-1), true},
		{int64(1), 1.0, false},
		{json.Number("1"), json.Number("1"), false},
		{int32(1), int32(1), false},
		{[]any{int32(1)}, []any{int32(1)}, false},
	} {
		a, b := with(test.a), with(test.b)
		if got := of(p, a) == of(p, b); got != test.equal {
			t.Errorf("%T %v and %T %v: equal is %v, want %v", test.a, test.a, test.b, test.b, got, test.equal)
		}
	}
}
