// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package rulepath_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"celador.io/admission/cel/rulepath"
)

func TestParse(t *testing.T) {
	for _, tc := range []struct {
		text, canonical string
		field, scope    string // errors
	}{
		{text: "", canonical: ""},
		{text: "spec.replicas", canonical: "spec.replicas"},
		{text: ".spec.replicas", canonical: "spec.replicas"},
		{text: `["spec"].a`, canonical: "spec.a"},
		{text: `.['spec'].a`, canonical: "spec.a"},
		{text: `spec.a['b.c']`, canonical: "spec.a['b.c']"},
		{text: `metadata.annotations["example.com/zone"].x`, canonical: "metadata.annotations['example.com/zone'].x"},
		{text: `a["it's"]`, canonical: `a['it\'s']`},
		{text: `a['\"\\\'\u00e9\n']`, canonical: `a['"\\\'é\u000a']`},
		{text: `a['']`, canonical: `a['']`},
		{text: "spec.foo-bar.$ref.größe", canonical: "spec.foo-bar.$ref.größe"},
		{text: "spec.foo__dash__bar", canonical: "spec.foo__dash__bar"},
		{
			text: "spec.endpoints[*]['ports'][*]", canonical: "spec.endpoints[*].ports[*]",
			field: `character 16: [*] is allowed in scope only: write scope "spec.endpoints[*]", and the path in the entry as field`,
		},
		{
			text:  "spec.a[0].b",
			field: `character 8: a list item cannot be set by its index: set the whole list with the field "spec.a", or every item with the scope "spec.a[*]"`,
			scope: "character 8: a list item cannot be selected by its index: write [*] for every item",
		},
		{text: "spec..a", field: "character 6: expected a name after the dot, found '.'"},
		{text: "spec.", field: "character 6: expected a name after the dot, found the end of the path"},
		{text: ".", field: "character 2: expected a name after the dot, found the end of the path"},
		{text: "spec.a[b]", field: `character 8: expected a name in quotes, such as ['example.com/zone'], after '[', found 'b'; ` + quoting},
		{text: "spec.a['b'", field: "character 11: expected ']', found the end of the path"},
		{text: "spec.a['b", field: "character 10: expected a closing '"},
		{text: "spec.a[", field: "character 8: '[' is not closed"},
		{text: "größe.a['b']c", field: "character 13: expected '.' or '[', found 'c'; " + quoting},
		{text: `a['\x']`, field: `character 4: '\' starts an unknown escape sequence: write \\ for a backslash`},
		{text: `a['\ud800']`, field: `character 4: '\' starts an unknown escape sequence: write \\ for a backslash`},
		{text: "metadata.annotations.example.com/zone", field: "character 33: expected '.' or '[', found '/'; " + quoting},
		{text: "/spec/a", field: "character 1: paths are written with dots, such as spec.replicas"},
		{text: "spec.*", field: "character 6: write [*] for every entry of a list or map"},
		{text: "spec .a", field: "character 5: expected '.' or '[', found ' '; " + quoting},
		{text: "\xff", field: "is not valid UTF-8"},
	} {
		t.Run(tc.text, func(t *testing.T) {
			if tc.scope == "" && tc.canonical == "" {
				tc.scope = tc.field
			}
			check := func(kind string, parse func(string) (rulepath.Path, error), wantErr string) {
				path, err := parse(tc.text)
				switch {
				case wantErr == "" && err != nil:
					t.Errorf("%s: %v", kind, err)
				case wantErr != "" && (err == nil || err.Error() != wantErr):
					t.Errorf("%s: got error %v, want %s", kind, err, wantErr)
				case wantErr == "" && path.String() != tc.canonical:
					t.Errorf("%s: got %s, want %s", kind, path, tc.canonical)
				}
			}
			check("field", rulepath.ParseField, tc.field)
			check("scope", rulepath.ParseScope, tc.scope)
		})
	}
}

const quoting = "write names that contain other characters than letters, digits, '_', '-' and '$' in brackets and quotes, such as metadata.annotations['example.com/zone']"

func FuzzParse(f *testing.F) {
	for _, text := range []string{"", ".", "spec.a", "spec.a[*].b", `a['b.c']["d"]`, `a['\u0000\\']`, "a[0]", "a[", "ä.b", "\xff", `.["x"]`} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if field, err := rulepath.ParseField(text); err == nil && field.HasEach() {
			t.Errorf("field %q has [*]", text)
		}
		path, err := rulepath.ParseScope(text)
		if err != nil {
			return
		}
		again, err := rulepath.ParseScope(path.String())
		if err != nil {
			t.Fatalf("%q parses, its canonical form %q does not: %v", text, path, err)
		}
		if diff := cmp.Diff(path, again); diff != "" {
			t.Errorf("%q changes: %s", path, diff)
		}
		_, _ = path.Locations(map[string]any{"spec": map[string]any{"a": []any{int64(1)}}}, 10)
		if !path.HasEach() {
			object := map[string]any{}
			if err := path.Set(object, "x"); err != nil {
				if len(path) > 0 {
					t.Errorf("%q: %v", text, err)
				}
				return
			}
			if value, found, err := path.Get(object); value != "x" || !found || err != nil {
				t.Errorf("%q: got %v, %v, %v", text, value, found, err)
			}
			if err := path.Delete(object); err != nil {
				t.Errorf("%q: %v", text, err)
			}
		}
	})
}
