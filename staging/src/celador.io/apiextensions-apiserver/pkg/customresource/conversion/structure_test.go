// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package conversion_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"

	"celador.io/apiextensions-apiserver/pkg/customresource/conversion"
)

// structureFields have the same object in several places: as a field, in a list, in a map and in
// another object.
const structureFields = `
a: &o {type: object, properties: {name: {type: string, maxLength: 10}, size: {type: integer}, ratio: {type: number}, when: {type: string, format: date-time}, inner: {type: object, properties: {x: {type: string}}}}}
b: {type: object, description: another text, required: [name], properties: {name: {type: string, maxLength: 99}, size: {type: integer, maximum: 5}, ratio: {type: number}, when: {type: string, format: date-time}, inner: {type: object, properties: {x: {type: string}}}}}
list: {type: array, maxItems: 10, items: *o}
others: {type: array, maxItems: 10, items: *o}
pools: {type: object, maxProperties: 10, additionalProperties: *o}
outer: {type: object, properties: {o: *o}}
differs: {type: object, properties: {name: {type: integer}}}
use: {type: boolean}
text: {type: string}
`

// Values of objects with the same fields are of one type wherever they are, and so are objects that
// rules construct.
func TestStructuralTypes(t *testing.T) {
	const in = "a: {name: a, size: 1, ratio: 2}\nb: {name: b, size: 2}\nlist: [{name: l}]\nothers: [{name: m}]\npools: {p: {name: p}}\nouter: {o: {name: o}}\ndiffers: {name: 7}\nuse: true"
	for _, test := range []struct {
		field, rule string
		// want is the value of the field, of spec.text unless a field is given.
		want any
	}{
		{"a", "self.spec.use ? self.spec.b : self.spec.a", map[string]any{"name": "b", "size": int64(2)}},
		{"b", "self.spec.outer.?o.orValue(self.spec.a)", map[string]any{"name": "o"}},
		{"b", "has(self.spec.b.inner) ? self.spec.b : self.spec.outer.o", map[string]any{"name": "o"}},
		{"list", "self.spec.list + self.spec.others", []any{map[string]any{"name": "l"}, map[string]any{"name": "m"}}},
		{"list", "[self.spec.a, self.spec.pools['p'], self.spec.outer.o].filter(x, x.name != 'a')", []any{map[string]any{"name": "p"}, map[string]any{"name": "o"}}},
		{"list", "self.spec.list.map(x, x.name == 'l' ? Object.spec.list{name: 'new', inner: Object.spec.a.inner{x: 'y'}} : x)", []any{map[string]any{"name": "new", "inner": map[string]any{"x": "y"}}}},
		{"list", "self.spec.list + [Object.spec.b{name: 'c'}]", []any{map[string]any{"name": "l"}, map[string]any{"name": "c"}}},
		{"list", "[Object.spec.b{name: 'c'}] + self.spec.list", []any{map[string]any{"name": "c"}, map[string]any{"name": "l"}}},
		{"pools", "{'x': self.spec.a, 'y': Object.spec.pools{name: 'c'}}", map[string]any{"x": map[string]any{"name": "a", "size": int64(1), "ratio": int64(2)}, "y": map[string]any{"name": "c"}}},
		{"outer.o", "Object.spec.a{name: 'c'}", map[string]any{"name": "c"}},
		{"a", "self.spec.use ? Object.spec.outer.o{name: 'c'} : Object.spec.list{name: 'd'}", map[string]any{"name": "c", "size": int64(1), "ratio": int64(2)}},
		{"text", "[Object.spec.a{name: 'c', size: null}, self.spec.a].map(o, o.name + (has(o.size) ? string(o.size) : '-')).join()", "c-a1"},
		{"text", "string((self.spec.use ? Object.spec.a{ratio: 1} : self.spec.a).ratio + 0.5)", "1.5"},
		{"text", "string((self.spec.use ? Object.spec.a{when: '2026-01-02T03:04:05Z'} : self.spec.a).when.getFullYear())", "2026"},
		{"text", "optional.of(Object.spec.a{name: 'c'}).optMap(o, o.name).orValue('')", "c"},
		// Fields of constructors keep their rules: other objects with enough fields in common,
		// texts for dates, null.
		{"outer", "Object.spec.outer{o: Object.spec.a{when: '2026-01-02T03:04:05Z', ratio: 1, name: null}}", map[string]any{"o": map[string]any{"name": "o", "when": "2026-01-02T03:04:05Z", "ratio": int64(1)}}},
	} {
		t.Run(test.rule, func(t *testing.T) {
			d := widgets(t, structureFields, structureFields, "[{field: spec."+test.field+", rule: \""+test.rule+"\"}]")
			if errs, _ := conversion.Validate(nil, d, nil); len(errs) > 0 {
				t.Fatal(errs)
			}
			object := widget(t, in)
			out, err := conversion.New(d).Convert(t.Context(), object, "v2")
			if err != nil {
				t.Fatal(err)
			}
			pruning.Prune(out.Object, d.Versions[1].Schema, true)
			got := out.Object["spec"]
			for _, name := range strings.Split(test.field, ".") {
				got = got.(map[string]any)[name]
			}
			if strings.Contains(test.rule, "name: null") {
				delete(test.want.(map[string]any)["o"].(map[string]any), "name")
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestStructuralTypeErrors(t *testing.T) {
	for rule, want := range map[string]string{
		"self.spec.use ? self.spec.a : self.spec.differs":                   "found no matching overload for '_?_:_' applied to '(bool, object(v1).spec.a, object(v1).spec.differs)'",
		"self.spec.use ? self.spec.a : Object.spec.differs{name: 1}":        "object(v1).spec.differs",
		"self.spec.use ? Object.spec.a{name: 'a'} : self.spec.differs":      "applied to '(bool, object(v1).spec.a, object(v1).spec.differs)'",
		"[Object.spec.a{name: 'a'}] + [self.spec.text]":                     "applied to '(list(object(v1).spec.a), list(string))'",
		"Object.spec.a{name: 1}":                                            "the value is int for name, which is a string",
		"(self.spec.use ? self.spec.a : Object.spec.a{name: 'a'}).none":     "undefined field 'none'",
		"(self.spec.use ? self.spec.a : Object.spec.a{name: 'a'}).name + 1": "found no matching overload for '_+_' applied to '(string, int)'",
	} {
		errs, _ := conversion.Validate(nil, widgets(t, structureFields, structureFields, "[{field: spec.a, rule: \""+rule+"\"}]"), nil)
		if len(errs) == 0 || !strings.Contains(errs[0].Error(), want) {
			t.Errorf("%s: got %v, want %s", rule, errs, want)
		}
	}
}

// Comparisons of constructed objects with objects of self have the right result. Others have none,
// because it could be a wrong one.
func TestComparedStructures(t *testing.T) {
	const o = "Object.spec.a{name: 'a', ratio: 1, inner: null}"
	const refused = "constructed objects cannot be compared"
	for rule, want := range map[string]any{
		"self.spec.a == " + o:                                true,
		o + " == self.spec.a":                                true,
		"self.spec.b == " + o:                                false,
		o + " != self.spec.b":                                true,
		o + " == " + o:                                       refused,
		"[self.spec.a] == [" + o + "]":                       true,
		"[" + o + "] == [self.spec.a]":                       refused,
		"self.spec.list == [" + o + "]":                      true,
		"[" + o + "] == self.spec.list":                      true,
		"[" + o + "] == self.spec.others":                    false,
		"{'a': self.spec.a} == {'a': " + o + "}":             true,
		"[self.spec.b] == [" + o + "]":                       false,
		"{'a': self.spec.b} == {'a': " + o + "}":             false,
		"sets.contains([self.spec.b], [" + o + "])":          false,
		o + " in self.spec.list":                             true,
		o + " in self.spec.others":                           false,
		"self.spec.a in [" + o + "]":                         true,
		"self.spec.list.indexOf(" + o + ") == 0":             true,
		"sets.contains([self.spec.a], [" + o + "])":          true,
		"[self.spec.a, " + o + "].distinct().size() == 1":    refused,
		"optional.of(self.spec.a) == optional.of(" + o + ")": true,
		"optional.of(" + o + ") == optional.of(self.spec.b)": false,
	} {
		d := widgets(t, structureFields, structureFields, "[{field: spec.use, rule: \""+rule+"\"}]")
		out, err := conversion.New(d).Convert(t.Context(), widget(t, "a: {name: a, ratio: 1}\nb: {name: b}\nlist: [{name: a, ratio: 1}]\nothers: [{name: b}]"), "v2")
		var got any
		if err == nil {
			got = out.Object["spec"].(map[string]any)["use"]
		} else if strings.Contains(err.Error(), refused) {
			got = refused
		}
		if got != want {
			t.Errorf("%s: got %v, %v, want %v", rule, got, err, want)
		}
	}
}

// has() is false where an object on the way to the field is unset, and so are optional selections.
func TestReadsOfUnsetParents(t *testing.T) {
	const fields = "out: {type: string}\na: {type: object, required: [b], properties: {b: {type: object, required: [c], properties: {c: {type: string}}}}}\n" +
		"list: {type: array, maxItems: 5, items: {type: object, properties: {a: {type: object, properties: {b: {type: string}}}}}}\n" +
		"labels: {type: object, maxProperties: 5, additionalProperties: {type: object, properties: {a: {type: string}}}}"
	const without, with = "apiVersion: example.com/v1\nkind: Widget\n", "apiVersion: example.com/v1\nkind: Widget\nspec: {a: {b: {c: x}}, list: [{a: {b: w}}], labels: {k: {a: z}}}"
	const partial = "apiVersion: example.com/v1\nkind: Widget\nspec: {a: {}, list: [{}], labels: {k: {}}}"
	for _, test := range []struct {
		rule                       string
		whenSet, whenPart, whenNot any
	}{
		{"has(self.spec.a.b.c) ? self.spec.a.b.c : 'unset'", "x", "unset", "unset"},
		{"has(self.spec.a.b.c) ? self.spec.a.b.c : null", "x", nil, nil},
		{"!has(self.spec.a.b.c) || self.spec.a.b.c == 'y' ? 'no' : 'yes'", "yes", "no", "no"},
		{"self.?spec.?a.?b.?c", "x", nil, nil},
		{"self.?spec.a.b.c", "x", nil, nil},
		{"self.?spec.a.b.c.orValue('unset')", "x", "unset", "unset"},
		{"self.?spec.?list.orValue([]).map(i, has(i.a.b) ? i.a.b : 'unset').join()", "w", "unset", ""},
		{"has(self.spec.labels.k.a) ? self.spec.labels.k.a : 'unset'", "z", "unset", "unset"},
		{"has(self.metadata.labels.k) ? 'set' : 'unset'", "unset", "unset", "unset"},
		{"self.?spec.?a.optMap(a, has(a.b.c) ? a.b.c : 'part').orValue('unset')", "x", "part", "unset"},
		{"has(self.spec.a.b.c) && has(self.spec.list) && self.spec.list.exists(i, has(i.a.b)) ? 'all' : 'some'", "all", "some", "some"},
	} {
		d := widgets(t, fields, fields, "[{field: spec.out, rule: \""+test.rule+"\"}]")
		if errs, _ := conversion.Validate(nil, d, nil); len(errs) > 0 {
			t.Errorf("%s: %v", test.rule, errs)
			continue
		}
		for in, want := range map[string]any{with: test.whenSet, partial: test.whenPart, without: test.whenNot} {
			out, err := convert(t, d, object(t, in), "v2")
			if err != nil {
				t.Errorf("%s of %s: %v", test.rule, in, err)
				continue
			}
			spec, _ := out.Object["spec"].(map[string]any)
			if spec["out"] != want {
				t.Errorf("%s of %s: got %v, want %v", test.rule, in, spec["out"], want)
			}
		}
	}
	errs, _ := conversion.Validate(nil, widgets(t, fields, fields, "[{field: spec.out, rule: \"has(self.spec.none.b.c) ? 'a' : 'b'\"}]"), nil)
	if len(errs) == 0 || strings.Count(errs[0].Error(), "undefined field") != 1 {
		t.Errorf("got %v, want one error", errs)
	}
}
