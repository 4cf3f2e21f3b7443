// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package conversion_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestOpenFields converts values that schemas leave open.
func TestOpenFields(t *testing.T) {
	const (
		untyped  = "a: {x-kubernetes-preserve-unknown-fields: true}\n"
		object   = "a: {type: object, x-kubernetes-preserve-unknown-fields: true}\n"
		mixed    = "a: {type: object, x-kubernetes-preserve-unknown-fields: true, properties: {known: {type: string}}}\n"
		embedded = "a: {type: object, x-kubernetes-preserve-unknown-fields: true, x-kubernetes-embedded-resource: true}\n"
		values   = "a: {type: object, additionalProperties: {x-kubernetes-preserve-unknown-fields: true}}\n"
		items    = "a: {type: array, items: {x-kubernetes-preserve-unknown-fields: true}}\n"
		either   = "a: {x-kubernetes-int-or-string: true}\n"
		integer  = "b: {type: integer}\n"
		text     = "b: {type: string}\n"
		open     = "b: {x-kubernetes-preserve-unknown-fields: true}\n"
		listMap  = "b: {type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [k], items: {type: object, required: [k], properties: {k: {type: string}, num: {type: integer}}}}\n"
		nested   = "b: {type: object, properties: {list: {type: array, items: {type: object, properties: {num: {type: integer}}}}}}\n"
	)
	rule := func(expression string) string { return "[{field: spec.b, rule: " + quote(expression) + "}]" }
	tests := []struct {
		name     string
		from, to string
		rules    string
		// write is the error of the CRDSpec, or empty.
		write string
		// object and want are the specs before and after. err is part of the error of the
		// conversion.
		object, want, err string
	}{
		{name: "untyped", from: untyped, to: text, rules: rule("self.spec.a.image.tag"), object: "a: {image: {tag: x}}", want: "b: x"},
		{name: "untyped key", from: untyped, to: text, rules: rule("self.spec.a['image.tag']"), object: "a: {image.tag: x}", want: "b: x"},
		{name: "untyped optional", from: untyped, to: text, rules: rule("self.spec.?a.?image.?tag"), object: "a: {image: {}}", want: "{}"},
		{name: "untyped optional through dyn", from: untyped, to: text, rules: rule("dyn(self.spec).?a.image"), object: "a: {image: x}", want: "b: x"},
		{name: "has in untyped", from: untyped, to: text, rules: rule("has(self.spec.a.image) ? self.spec.a.image : null"), object: "a: {other: x}", want: "{}"},
		{name: "untyped list", from: untyped, to: integer, rules: rule("self.spec.a[1] + 1"), object: "a: [1, 2]", want: "b: 3"},
		{name: "untyped macro", from: untyped, to: open, rules: rule("self.spec.a.map(i, i.num * 2)"), object: "a: [{num: 1}, {num: 2}]", want: "b: [2, 4]"},
		{name: "untyped absent", from: untyped, to: text, rules: rule("self.spec.a"), object: "{}", err: "no such key: a"},
		{name: "whole untyped", from: untyped, to: open, rules: rule("self.spec.a"), object: "a: {x: [1, {w: null}, 2.5]}", want: "b: {x: [1, {w: null}, 2.5]}"},
		{name: "whole object", from: object, to: "b: {type: object, x-kubernetes-preserve-unknown-fields: true}", rules: rule("self.spec.a"), object: "a: {x: [1]}", want: "b: {x: [1]}"},
		{name: "whole untyped into an object", from: untyped, to: nested, rules: rule("self.spec.a"), object: "a: {list: [{num: 1, x: 2}], w: 3}", want: "b: {list: [{num: 1}]}"},
		{name: "whole untyped into another object", from: untyped, to: nested, rules: rule("self.spec.a"), object: "a: {list: [{num: 1}, {num: x}]}", err: "the rule returns string for list[1].num, which is an integer"},
		{name: "object", from: object, to: text, rules: rule("self.spec.a.x"), object: "a: {x: v}", want: "b: v"},
		{name: "keys of an object", from: object, to: "b: {type: array, items: {type: string}}", rules: rule("self.spec.a.map(k, k).sort()"), object: "a: {w: 1, x: 2}", want: "b: [w, x]"},
		{name: "declared field", from: mixed, to: integer, rules: rule("self.spec.a.known"), write: "the rule returns string, but the field is an integer"},
		{name: "undeclared field", from: mixed, to: integer, rules: rule("self.spec.a.unknown"), object: "a: {known: x, unknown: 3}", want: "b: 3"},
		{name: "undeclared field with dashes", from: mixed, to: integer, rules: rule("self.spec.a.un__dash__known"), object: "a: {un-known: 3}", want: "b: 3"},
		{name: "has of an undeclared field", from: mixed, to: integer, rules: rule("has(self.spec.a.unknown) ? 1 : 2"), object: "a: {unknown: 3}", want: "b: 1"},
		{name: "undeclared field of another type", from: mixed, to: integer, rules: rule("self.spec.a.unknown"), object: "a: {unknown: x}", err: "the rule returns string, but the field is an integer"},
		{name: "whole mixed object", from: mixed, to: "b: {type: object, x-kubernetes-preserve-unknown-fields: true}", rules: rule("self.spec.a"), object: "a: {known: x, unknown: {w: 1}}", want: "b: {known: x, unknown: {w: 1}}"},
		{name: "embedded resource", from: embedded, to: text, rules: rule("self.spec.a.kind + self.spec.a.metadata.name + self.spec.a.metadata.labels.l + self.spec.a.spec.x"),
			object: "a: {apiVersion: v1, kind: K, metadata: {name: nm, labels: {l: v}}, spec: {x: w}}", want: "b: Knmvw"},
		{name: "whole embedded resource", from: embedded, to: strings.Replace(embedded, "a:", "b:", 1), rules: rule("self.spec.a"),
			object: "a: {apiVersion: v1, kind: K, metadata: {name: nm}, spec: {x: w}}", want: "b: {apiVersion: v1, kind: K, metadata: {name: nm}, spec: {x: w}}"},
		{name: "untyped values", from: values, to: integer, rules: rule("self.spec.a.x"), object: "a: {x: 1}", want: "b: 1"},
		{name: "untyped items", from: items, to: integer, rules: rule("self.spec.a[0]"), object: "a: [1, x]", want: "b: 1"},
		{name: "integer or string", from: either, to: integer, rules: rule("self.spec.a"), object: "a: 1", want: "b: 1"},
		{name: "string instead of an integer", from: either, to: integer, rules: rule("self.spec.a"), object: "a: x", err: "the rule returns string, but the field is an integer"},
		{name: "scope", from: untyped, to: untyped, rules: "[{scope: spec.a, rule: self.x}]", object: "a: {x: 1}", want: "a: 1"},
		{name: "list-map", from: untyped, to: listMap, rules: rule("self.spec.a"), object: "a: [{k: x}, {k: w, num: 1}]", want: "b: [{k: x}, {k: w, num: 1}]"},
		{name: "list-map without a key", from: untyped, to: listMap, rules: rule("self.spec.a"), object: "a: [{num: 1}]", err: "[0].k: it is unset, and is a key of the list"},
		{name: "list-map with equal keys", from: untyped, to: listMap, rules: rule("self.spec.a"), object: "a: [{k: x}, {k: x}]", err: `[1]: the item has the same keys as item 0 (k="x")`},

		{name: "copy of the right type", from: untyped, to: "a: {type: integer}", object: "a: 1", want: "a: 1"},
		{name: "copy of another type", from: untyped, to: "a: {type: integer}", object: "a: notint",
			err: "spec.a, whose type version v1 leaves open, cannot be copied: it is string, but the field is an integer. Correct the object, or add a rule that sets the field"},
		{name: "copy with a rule", from: untyped, to: "a: {type: integer}", rules: "[{field: spec.a, rule: 'type(self.spec.a) == int ? self.spec.a : null'}]", object: "a: notint", want: "{}"},
		{name: "copy of an absent value", from: untyped, to: "a: {type: integer}", object: "{}", want: "{}"},
		{name: "copy of an open object", from: object, to: "a: {type: object, properties: {num: {type: integer}, o: {type: object, properties: {num: {type: integer}}}}}", object: "a: {num: 1, o: {num: x}}", err: "spec.a.o, whose type version v1 leaves open, cannot be copied: it is string for num, which is an integer"},
		{name: "copy of a mixed object", from: mixed, to: "a: {type: object, properties: {known: {type: string}, num: {type: integer}}}", object: "a: {known: x, num: w}", err: "spec.a.num"},
		{name: "copy of an open object into a map", from: object, to: "a: {type: object, additionalProperties: {type: string}}", object: "a: {x: 1}", err: "it is int for x, which is a string"},
		{name: "copy of untyped values", from: values, to: "a: {type: object, additionalProperties: {type: string}}", object: "a: {x: w, z: 1}", err: "spec.a.z"},
		{name: "copy of untyped items", from: items, to: "a: {type: array, items: {type: string}}", object: "a: [x, null]", err: "it is null for [1]"},
		{name: "copy into an integer or string", from: untyped, to: either, object: "a: 1.5", err: "it is double, but the field is an integer or a string"},
		{name: "copy into a format", from: untyped, to: "a: {type: string, format: date-time}", object: "a: x", err: "not a string with the format date-time"},
		{name: "copy into a list-map", from: untyped, to: strings.Replace(listMap, "b:", "a:", 1), object: "a: [{k: x}, {k: x}]", err: "the same keys"},
		{name: "copy into an open field", from: "a: {type: integer}", to: untyped, object: "a: 1", want: "a: 1"},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			d := widgets(t, tc.from, tc.to, tc.rules)
			errs, _ := validate(d, nil)
			// The sizes of open values have no limits.
			errs = slices.DeleteFunc(errs, func(err string) bool { return strings.Contains(err, "estimated rule cost") })
			if tc.rules != "" && len(errs) > 0 != (tc.write != "") || tc.write != "" && !strings.Contains(errs[0], tc.write) {
				t.Fatalf("write: got %q, want %q", errs, tc.write)
			}
			if tc.write != "" {
				return
			}
			out, err := convert(t, d, widget(t, tc.object), "v2")
			if tc.err != "" {
				if err == nil || !strings.Contains(err.Error(), tc.err) {
					t.Fatalf("got %v, want %s", err, tc.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			got := prune(out, d.Versions[1].Schema)["spec"]
			if diff := cmp.Diff(widget(t, tc.want).Object["spec"], got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func quote(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }
