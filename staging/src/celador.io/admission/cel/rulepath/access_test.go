// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package rulepath_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"celador.io/admission/cel/rulepath"
)

func stored() map[string]any {
	return map[string]any{"spec": map[string]any{
		"replicas": int64(1),
		"null":     nil,
		"list":     []any{map[string]any{"port": int64(80)}, nil, map[string]any{"port": int64(81)}},
		"map":      map[string]any{"b.c": map[string]any{"x": "1"}, "a": map[string]any{"x": "2"}},
	}}
}

func field(t *testing.T, text string) rulepath.Path {
	t.Helper()
	path, err := rulepath.ParseField(text)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func TestGetSetDelete(t *testing.T) {
	for _, tc := range []struct {
		path      string
		get       any
		getErr    string
		setErr    string
		removes   bool
		removeErr string
	}{
		{path: "spec.replicas", get: int64(1), removes: true},
		{path: "spec.null", get: nil, removes: true},
		{path: "spec.map['b.c'].x", get: "1", removes: true},
		{path: "spec.new"},
		{path: "spec.new.a.b"},
		{path: "status.a"},
		{path: "spec.null.a.b"},
		{
			path: "spec.replicas.a", getErr: "spec.replicas is a number instead of an object", setErr: "spec.replicas is a number instead of an object",
			removeErr: "spec.replicas is a number instead of an object",
		},
		{
			path: "spec.list.a", getErr: "spec.list is a list instead of an object", setErr: "spec.list is a list instead of an object",
			removeErr: "spec.list is a list instead of an object",
		},
		{path: "", get: stored(), setErr: "the object itself cannot be set", removeErr: "the object itself cannot be removed"},
	} {
		t.Run(tc.path, func(t *testing.T) {
			path := field(t, tc.path)
			got, _, err := path.Get(stored())
			if text(err) != tc.getErr {
				t.Errorf("got error %v, want %q", err, tc.getErr)
			}
			if diff := cmp.Diff(tc.get, got); diff != "" {
				t.Error(diff)
			}
			object := stored()
			if err := path.Set(object, "new"); text(err) != tc.setErr {
				t.Errorf("got error %v, want %q", err, tc.setErr)
			}
			if tc.setErr != "" {
				if diff := cmp.Diff(stored(), object); diff != "" {
					t.Errorf("object changed: %s", diff)
				}
			} else if value, found, err := path.Get(object); value != "new" || !found || err != nil {
				t.Errorf("got %v, %v, %v", value, found, err)
			}
			object = stored()
			if err := path.Delete(object); text(err) != tc.removeErr {
				t.Errorf("got error %v, want %q", err, tc.removeErr)
			}
			if _, found, _ := path.Get(object); tc.removes && found {
				t.Errorf("%s is still set", tc.path)
			}
			if diff := cmp.Diff(stored(), object); tc.removes == (diff == "") {
				t.Errorf("unexpected difference: %s", diff)
			}
		})
	}
}

func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func TestMatches(t *testing.T) {
	for _, tc := range []struct {
		scope string
		want  []string
		err   string
	}{
		{scope: "spec.replicas", want: []string{"spec.replicas=1"}},
		{scope: "spec.missing.x[*]"},
		{scope: "spec.null"},
		{scope: "spec.null[*].a"},
		{scope: "spec.list[*].port", want: []string{"spec.list[0].port=80", "spec.list[2].port=81"}},
		{scope: "spec.map[*].x", want: []string{"spec.map.a.x=2", "spec.map['b.c'].x=1"}},
		{scope: "spec[*][*]", err: "the scope leads to too many values"},
		{scope: "spec.replicas[*]", err: "spec.replicas is a number instead of a list or map"},
		{scope: "spec.list[*].port.x", err: "spec.list[0].port is a number instead of an object"},
		{scope: "spec.list.x", err: "spec.list is a list instead of an object"},
	} {
		t.Run(tc.scope, func(t *testing.T) {
			scope, err := rulepath.ParseScope(tc.scope)
			if err != nil {
				t.Fatal(err)
			}
			matches, err := scope.Locations(stored(), 2)
			if text(err) != tc.err {
				t.Fatalf("got error %v, want %q", err, tc.err)
			}
			var got []string
			for _, m := range matches {
				got = append(got, fmt.Sprintf("%s=%v", m.Path, m.Value))
				if value, found, err := m.Path.Get(stored()); !found || err != nil || value != m.Value {
					t.Errorf("%s leads to %v, %v, %v", m.Path, value, found, err)
				}
			}
			if diff := cmp.Diff(tc.want, got); tc.err == "" && diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestPathOfMatch(t *testing.T) {
	object := stored()
	scope, err := rulepath.ParseScope("spec.list[*]")
	if err != nil {
		t.Fatal(err)
	}
	matches, err := scope.Locations(object, 2)
	if err != nil {
		t.Fatal(err)
	}
	last := matches[1].Path
	if err := last.Join(field(t, "labels.a")).Set(object, "x"); err != nil {
		t.Error(err)
	}
	if err := last.Set(map[string]any{"spec": map[string]any{"list": []any{}}}, "x"); text(err) != "spec.list[2] does not exist" {
		t.Errorf("got %v", err)
	}
	if err := last.Join(field(t, "a")).Set(map[string]any{}, "x"); text(err) != "spec does not exist" {
		t.Errorf("got %v", err)
	}
	if err := last.Delete(object); text(err) != "the list item spec.list[2] cannot be removed: return the whole list without it" {
		t.Errorf("got %v", err)
	}
	null := field(t, "spec.list").Join(rulepath.Path{{Item: true, Index: 1}, {Name: "port"}})
	if err := null.Set(object, "y"); err != nil {
		t.Error(err)
	}
	want := stored()
	want["spec"].(map[string]any)["list"].([]any)[1] = map[string]any{"port": "y"}
	want["spec"].(map[string]any)["list"].([]any)[2].(map[string]any)["labels"] = map[string]any{"a": "x"}
	if diff := cmp.Diff(want, object); diff != "" {
		t.Error(diff)
	}
}
