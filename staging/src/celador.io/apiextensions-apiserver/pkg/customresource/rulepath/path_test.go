// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package rulepath_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"

	"celador.io/apiextensions-apiserver/pkg/customresource/rulepath"
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
		_, _ = path.Resolve(schema())
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

func object(properties map[string]structuralschema.Structural) structuralschema.Structural {
	return structuralschema.Structural{Generic: structuralschema.Generic{Type: "object"}, Properties: properties}
}

func scalar(name string) structuralschema.Structural {
	return structuralschema.Structural{Generic: structuralschema.Generic{Type: name}}
}

func list(items structuralschema.Structural) structuralschema.Structural {
	return structuralschema.Structural{Generic: structuralschema.Generic{Type: "array"}, Items: &items}
}

func dictionary(values structuralschema.Structural) structuralschema.Structural {
	s := object(nil)
	s.AdditionalProperties = &structuralschema.StructuralOrBool{Structural: &values}
	return s
}

func schema() *structuralschema.Structural {
	open := object(map[string]structuralschema.Structural{"known": scalar("string")})
	open.XPreserveUnknownFields = true
	endpoint := object(map[string]structuralschema.Structural{"port": scalar("integer"), "labels": dictionary(scalar("string"))})
	root := object(map[string]structuralschema.Structural{
		"metadata": object(map[string]structuralschema.Structural{"annotations": dictionary(scalar("string")), "labels": dictionary(scalar("string"))}),
		"spec": object(map[string]structuralschema.Structural{
			"replicas":  scalar("integer"),
			"foo-bar":   scalar("string"),
			"maxSurge":  {Extensions: structuralschema.Extensions{XIntOrString: true}},
			"endpoints": list(endpoint),
			"pools":     dictionary(endpoint),
			"open":      open,
			"empty":     object(nil),
		}),
	})
	return &root
}

func TestResolve(t *testing.T) {
	for _, tc := range []struct{ path, want, err string }{
		{path: "", want: "object"},
		{path: "spec.replicas", want: "integer"},
		{path: "metadata.annotations['example.com/zone']", want: "string"},
		{path: "spec.endpoints[*].labels[*]", want: "string"},
		{path: "spec.pools.a.port", want: "integer"},
		{path: "spec.pools[*].port", want: "integer"},
		{path: "spec.open.known", want: "string"},
		{path: "spec.open.other", err: `spec.open has no field "other" in the schema, only unknown fields: declare the field in the schema, or set spec.open as a whole`},
		{path: "spec.replcias", err: `spec has no field "replcias": did you mean "replicas"?`},
		{path: "spec.foo__dash__bar", err: `spec has no field "foo__dash__bar": did you mean "foo-bar"?`},
		{path: "spec.other", err: `spec has no field "other": its fields are empty, endpoints, foo-bar, maxSurge, open, pools, replicas`},
		{path: "Spec.other", err: `the object has no field "Spec": did you mean "spec"?`},
		{path: "self.spec.replicas", err: `paths start at the object: write "spec.replicas" instead of "self.spec.replicas"`},
		{path: "$.spec", err: `paths start at the object: write "spec" instead of "$.spec"`},
		{path: "spec.empty.a", err: `spec.empty has no fields in the schema: declare the field "a"`},
		{path: "spec.maxSurge.a", err: "spec.maxSurge is an integer or a string and has no fields"},
		{path: "spec.replicas.a", err: "spec.replicas is an integer and has no fields"},
		{path: "spec.replicas[*]", err: "spec.replicas is an integer and has no fields"},
		{path: "spec[*]", err: "spec is an object with fields, and [*] is for the entries of lists and maps: write the name of a field, such as spec.empty"},
		{path: "spec.empty[*]", err: "spec.empty has neither items nor additionalProperties in the schema: declare them to run rules for its entries"},
		{path: "spec.endpoints.port", err: `spec.endpoints is a list, which has no field "port": write spec.endpoints[*] in scope to run the rule for every item`},
		{path: "metadata.annotations.example.com", err: "metadata.annotations.example is a string and has no fields: write metadata.annotations['example.com']"},
		{path: "spec." + strings.Repeat("x", 1<<20), err: `spec has no field "` + strings.Repeat("x", 128) + `...": its fields are empty, endpoints, foo-bar, maxSurge, open, pools, replicas`},
	} {
		t.Run(tc.path[:min(len(tc.path), 50)], func(t *testing.T) {
			path, err := rulepath.ParseScope(tc.path)
			if err != nil {
				t.Fatal(err)
			}
			found, err := path.Resolve(schema())
			switch {
			case tc.err != "":
				if err == nil || err.Error() != tc.err {
					t.Errorf("got error %v, want %s", err, tc.err)
				}
			case err != nil:
				t.Error(err)
			case found.Type != tc.want:
				t.Errorf("got type %s, want %s", found.Type, tc.want)
			}
		})
	}
}
