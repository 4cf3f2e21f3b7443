// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package conversion_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"sigs.k8s.io/yaml"

	"celador.io/apiextensions-apiserver/pkg/customresource/conversion"
)

func TestConvert(t *testing.T) {
	const (
		list = "list: {type: array, items: {type: object, properties: {name: {type: string}, size: {type: integer}}}}"
		text = "text: {type: string}"
	)
	tests := []struct {
		name string
		// from and to are the fields of spec in v1 and v2.
		from, to string
		rules    string
		// in and out are spec in v1, and after conversion and pruning in v2.
		in, out string
	}{{
		name: "identity", from: text, to: text, rules: "[]",
		in: "text: a", out: "text: a",
	}, {
		name: "a field that v2 lacks", from: text, to: "{}", rules: "[]",
		in: "text: a", out: "{}",
	}, {
		name: "set a field", from: text, to: "title: {type: string}",
		rules: "[{field: spec.title, rule: self.spec.text + '!'}]",
		in:    "text: a", out: "title: a!",
	}, {
		name: "a leading dot", from: text, to: "title: {type: string}",
		rules: "[{field: .spec.title, rule: self.spec.text}]",
		in:    "text: a", out: "title: a",
	}, {
		name: "create parents", from: text, to: "a: {type: object, properties: {b: {type: object, properties: {c: {type: string}}}}}",
		rules: "[{field: spec.a.b.c, rule: self.spec.text}]",
		in:    "text: x", out: "a: {b: {c: x}}",
	}, {
		name: "a parent that is null", from: text, to: "a: {type: object, nullable: true, properties: {b: {type: string}, c: {type: string}}}",
		rules: "[{field: spec.a.b, rule: self.spec.text}, {field: spec.a.c, rule: 'null'}]",
		in:    "text: x\na: null", out: "a: {b: x}",
	}, {
		name: "a parent that stays null", from: text, to: "a: {type: object, nullable: true, properties: {b: {type: string}}}",
		rules: "[{field: spec.a.b, rule: 'null'}]",
		in:    "a: null", out: "a: null",
	}, {
		name: "no parents for null", from: text, to: "a: {type: object, properties: {b: {type: string}}}",
		rules: "[{field: spec.a.b, rule: 'has(self.spec.text) ? self.spec.text : null'}]",
		in:    "{}", out: "{}",
	}, {
		name: "null removes the copy", from: text, to: text,
		rules: "[{field: spec.text, rule: 'self.spec.text == \"default\" ? null : self.spec.text'}]",
		in:    "text: default", out: "{}",
	}, {
		name: "none removes the copy", from: text, to: text,
		rules: "[{field: spec.text, rule: 'optional.none()'}]",
		in:    "text: default", out: "{}",
	}, {
		name: "rules read the source", from: "a: {type: integer}\nb: {type: integer}", to: "a: {type: integer}\nb: {type: integer}",
		rules: "[{field: spec.a, rule: self.spec.b}, {field: spec.b, rule: self.spec.a}]",
		in:    "a: 1\nb: 2", out: "a: 2\nb: 1",
	}, {
		name: "later rules win", from: "a: {type: integer}", to: "a: {type: integer}",
		rules: "[{field: spec.a, rule: '1'}, {field: spec.a, rule: '2'}]",
		in:    "a: 0", out: "a: 2",
	}, {
		name: "a scope", from: text, to: "title: {type: string}",
		rules: "[{scope: spec, field: title, rule: self.text}]",
		in:    "text: a", out: "title: a",
	}, {
		name: "a scope without a field", from: text, to: text,
		rules: "[{scope: spec.text, rule: self + '!'}]",
		in:    "text: a", out: "text: a!",
	}, {
		name: "a scope that is missing", from: text, to: text,
		rules: "[{scope: spec.text, rule: self + '!'}]",
		in:    "{}", out: "{}",
	}, {
		name: "list items", from: list, to: "list: {type: array, items: {type: object, properties: {title: {type: string}, size: {type: integer}}}}",
		rules: "[{scope: 'spec.list[*]', field: title, rule: 'has(self.name) ? self.name : null'}]",
		in:    "list: [{name: a, size: 1}, {size: 2}]", out: "list: [{title: a, size: 1}, {size: 2}]",
	}, {
		name: "map values", from: "map: {type: object, additionalProperties: {type: object, properties: {a: {type: integer}}}}",
		to:    "map: {type: object, additionalProperties: {type: object, properties: {b: {type: integer}}}}",
		rules: "[{scope: 'spec.map[*]', field: b, rule: self.a + 1}]",
		in:    "map: {x: {a: 1}, y.z: {a: 2}}", out: "map: {x: {b: 2}, y.z: {b: 3}}",
	}, {
		name:  "nested lists",
		from:  "list: {type: array, items: {type: object, properties: {inner: {type: array, items: {type: object, properties: {a: {type: boolean}}}}}}}",
		to:    "list: {type: array, items: {type: object, properties: {inner: {type: array, items: {type: object, properties: {b: {type: string}}}}}}}",
		rules: "[{scope: 'spec.list[*].inner[*]', field: b, rule: \"self.a ? '=~' : '='\"}]",
		in:    "list: [{inner: [{a: true}, {a: false}]}, {}, {inner: []}, {inner: [{a: false}]}]",
		out:   "list: [{inner: [{b: =~}, {b: '='}]}, {}, {inner: []}, {inner: [{b: '='}]}]",
	}, {
		name: "items without a field", from: "list: {type: array, items: {type: string}}", to: "list: {type: array, items: {type: string}}",
		rules: "[{scope: 'spec.list[*]', rule: self.upperAscii()}]",
		in:    "list: [a, b]", out: "list: [A, B]",
	}, {
		name: "retyped field", from: "size: {type: integer}", to: "size: {type: string}",
		rules: "[{field: spec.size, rule: 'has(self.spec.size) ? string(self.spec.size) : null'}]",
		in:    "size: 3", out: "size: '3'",
	}, {
		name: "retyped field that a rule leaves unset", from: "size: {type: integer}", to: "size: {type: string}",
		rules: "[{field: spec.size, rule: 'null'}]",
		in:    "size: 3", out: "{}",
	}, {
		name: "a scalar becomes an object", from: "host: {type: string}", to: "host: {type: object, properties: {name: {type: string}}}",
		rules: "[{field: spec.host.name, rule: self.spec.host}]",
		in:    "host: a", out: "host: {name: a}",
	}, {
		name: "items become objects", from: "hosts: {type: array, items: {type: string}}",
		to:    "hosts: {type: array, items: {type: object, properties: {name: {type: string}}}}",
		rules: "[{scope: 'spec.hosts[*]', field: name, rule: self}]",
		in:    "hosts: [a, b]", out: "hosts: [{name: a}, {name: b}]",
	}, {
		name: "objects become items", from: "hosts: {type: array, items: {type: object, properties: {name: {type: string}}}}",
		to:    "hosts: {type: array, items: {type: string}}",
		rules: "[{field: spec.hosts, rule: 'self.spec.hosts.map(h, h.name)'}]",
		in:    "hosts: [{name: a}, {name: b}]", out: "hosts: [a, b]",
	}, {
		name: "a list becomes a map", from: list, to: "list: {type: object, additionalProperties: {type: object, properties: {size: {type: integer}}}}",
		rules: "[{field: spec.list, rule: 'self.spec.list.transformMapEntry(i, e, {e.name: Object.spec.list{size: e.size}})'}]",
		in:    "list: [{name: a, size: 1}, {name: b, size: 2}]", out: "list: {a: {size: 1}, b: {size: 2}}",
	}, {
		name: "constructed object is merged", from: text + "\nobject: {type: object, properties: {a: {type: string}, b: {type: string}}}",
		to:    "object: {type: object, properties: {a: {type: string}, b: {type: string}}}",
		rules: "[{field: spec.object, rule: 'Object.spec.object{a: self.spec.text}'}]",
		in:    "text: x\nobject: {a: a, b: b}", out: "object: {a: x, b: b}",
	}, {
		name: "constructed object in optionals is merged", from: "object: {type: object, properties: {a: {type: string}, b: {type: string}}}\nread: {type: string}",
		to:    "object: {type: object, properties: {a: {type: string}, b: {type: string}}}\nread: {type: string}",
		rules: "[{field: spec.object, rule: \"self.spec.?object.optMap(o, o.?a.optMap(a, Object.spec.object{a: 'new', b: a}))\"}, {field: spec.read, rule: self.spec.object.a}]",
		in:    "object: {a: x}", out: "object: {a: new, b: x}\nread: x",
	}, {
		name: "root that is left unset", from: text, to: text, rules: "[{rule: 'null'}]",
		in: "text: x", out: "text: x",
	}, {
		name: "constructed root is merged", from: text + "\nkept: {type: string}", to: "kept: {type: string}\ntitle: {type: string}",
		rules: "[{rule: 'Object{spec: Object.spec{title: self.spec.text}}'}]",
		in:    "text: x\nkept: y", out: "title: x\nkept: y",
	}, {
		name: "renamed list of objects", from: list, to: "items: {type: array, items: {type: object, properties: {title: {type: string}}}}",
		rules: "[{field: spec.items, rule: 'self.spec.list.map(e, Object.spec.items{title: e.name})'}]",
		in:    "list: [{name: a}]", out: "items: [{title: a}]",
	}, {
		name: "integer to number", from: "a: {type: integer}", to: "a: {type: number}", rules: "[]",
		in: "a: 1", out: "a: 1",
	}, {
		name: "formats", from: "seconds: {type: integer}\nday: {type: string, format: date}",
		to:    "timeout: {type: string, format: duration}\nday: {type: string, format: date}",
		rules: "[{field: spec.timeout, rule: \"duration(string(self.spec.seconds) + 's')\"}, {field: spec.day, rule: self.spec.day}]",
		in:    "seconds: 90\nday: 2026-01-02", out: "timeout: 1m30s\nday: '2026-01-02'",
	}, {
		name: "names that are no identifiers", from: "x-prop: {type: string}\nnamespace: {type: string}", to: "a: {type: string}\nb: {type: string}",
		rules: "[{field: spec.a, rule: self.spec.x__dash__prop}, {field: spec.b, rule: self.spec.namespace}]",
		in:    "x-prop: x\nnamespace: ns", out: "a: x\nb: ns",
	}, {
		name: "metadata", from: text, to: text,
		rules: "[{field: spec.text, rule: \"self.metadata.namespace + '/' + self.metadata.name + self.kind + self.apiVersion\"}]",
		in:    "{}", out: "text: a/bWidgetexample.com/v1",
	}, {
		name: "unknown fields that are preserved", from: "any: {type: object, x-kubernetes-preserve-unknown-fields: true}",
		to:    "any: {type: object, x-kubernetes-preserve-unknown-fields: true}",
		rules: "[]",
		in:    "any: {a: [1, {b: null}]}", out: "any: {a: [1, {b: null}]}",
	}, {
		name: "iteration over unknown fields",
		from: "any: {type: object, maxProperties: 10, x-kubernetes-preserve-unknown-fields: true, properties: {a: {type: string}}}", to: "unknown: {type: integer}",
		rules: "[{field: spec.unknown, rule: \"dyn(self.spec.any).filter(k, k == null).size()\"}]",
		in:    "any: {a: a, b: 1, c: {d: e}}", out: "unknown: 0",
	}, {
		name: "int or string", from: "port: {type: integer}", to: "port: {x-kubernetes-int-or-string: true}", rules: "[]",
		in: "port: 80", out: "port: 80",
	}}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			d := widgets(t, test.from, test.to, test.rules)
			in := widget(t, test.in)
			before := in.DeepCopy()
			out, err := convert(t, d, in, "v2")
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(before, in); diff != "" {
				t.Errorf("input changed: %s", diff)
			}
			out = out.DeepCopy()
			pruning.Prune(out.Object, d.Versions[1].Schema, true)
			want := widget(t, test.out)
			want.SetAPIVersion("example.com/v2")
			if diff := cmp.Diff(want.Object, out.Object); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestConvertMetadata(t *testing.T) {
	const metadata = "apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: b, namespace: a, uid: u, finalizers: [f], labels: {l: x}, annotations: {a: x}}\nspec: {text: t}\n"
	tests := []struct{ name, rules, metadata string }{
		{"nothing", "[]", "{name: b, namespace: a, uid: u, finalizers: [f], labels: {l: x}, annotations: {a: x}}"},
		{"an annotation", "[{field: \"metadata.annotations['example.com/text']\", rule: self.spec.text}]",
			"{name: b, namespace: a, uid: u, finalizers: [f], labels: {l: x}, annotations: {a: x, example.com/text: t}}"},
		{"all annotations", "[{field: metadata.annotations, rule: \"{'b': self.metadata.annotations.a + 'y'}\"}]",
			"{name: b, namespace: a, uid: u, finalizers: [f], labels: {l: x}, annotations: {b: xy}}"},
		{"no annotations", "[{field: metadata.annotations.a, rule: 'null'}]",
			"{name: b, namespace: a, uid: u, finalizers: [f], labels: {l: x}}"},
		{"labels", "[{field: metadata.labels, rule: 'null'}]",
			"{name: b, namespace: a, uid: u, finalizers: [f], annotations: {a: x}}"},
		{"through the root", "[{rule: \"Object{metadata: Object.metadata{labels: {'m': 'x'}}}\"}]",
			"{name: b, namespace: a, uid: u, finalizers: [f], labels: {m: x}, annotations: {a: x}}"},
		{"through all of metadata", "[{rule: \"Object{metadata: null}\"}]",
			"{name: b, namespace: a, uid: u, finalizers: [f]}"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			d := widgets(t, "text: {type: string}", "text: {type: string}", test.rules)
			out, err := convert(t, d, object(t, metadata), "v2")
			if err != nil {
				t.Fatal(err)
			}
			var want map[string]any
			if err := yaml.Unmarshal([]byte(test.metadata), &want); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, out.Object["metadata"]); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestConvertErrors(t *testing.T) {
	const fields = "text: {type: string}\nlist: {type: array, items: {type: object, properties: {name: {type: string}}}}\nany: {type: object, x-kubernetes-preserve-unknown-fields: true}"
	const prefix = `cannot convert Widget "a/b" from v1 to v2: `
	tests := []struct {
		name, rules, in string
		reason          conversion.ErrorReason
		message         string
	}{
		{"missing field", "[{field: spec.text, rule: self.spec.text}]", "{}", conversion.ReasonEvaluation,
			prefix + `spec.conversion.converters[0].rules[0] (field "spec.text"): no such key: text (it is unset in this object; ask with has(...) first, or read it with .? and orValue(...))`},
		{"missing field of an item", "[{field: spec.text, rule: \"'x'\"}, {scope: 'spec.list[*]', field: name, rule: self.name}]", "list: [{name: a}, {}]", conversion.ReasonEvaluation,
			prefix + `spec.conversion.converters[0].rules[1] (scope "spec.list[*]", field "name", at spec.list[1]): no such key: name (it is unset in this object; ask with has(...) first, or read it with .? and orValue(...))`},
		{"type of the list", "[{scope: 'spec.list[*]', field: name, rule: self.name}]", "list: a", conversion.ReasonType,
			prefix + `spec.conversion.converters[0].rules[0] (scope "spec.list[*]", field "name"): spec.list is a string instead of a list or map`},
		{"type of a result", "[{field: spec.text, rule: \"json.decode('1')\"}]", "{}", conversion.ReasonType,
			prefix + `spec.conversion.converters[0].rules[0] (field "spec.text"): `},
		{"replaced list", "[{field: spec.list, rule: '[]'}, {scope: 'spec.list[*]', field: name, rule: \"'x'\"}]", "list: [{name: a}]", conversion.ReasonType,
			prefix + `spec.conversion.converters[0].rules[1] (scope "spec.list[*]", field "name", at spec.list[0]): the converted object has no spec.list[0], because an earlier rule has replaced a value above it`},
		{"invalid label", "[{field: metadata.labels, rule: \"{'a b': 'c'}\"}]", "{}", conversion.ReasonMetadata,
			prefix + `metadata.labels: Invalid value: "a b": `},
		{"large annotation", "[{field: metadata.annotations.a, rule: \"self.spec.text.replace('', self.spec.text)\"}]", "text: " + repeat("x", 1000), conversion.ReasonMetadata,
			prefix + `metadata.annotations: Too long: `},
		{"cost", "[{field: spec.text, rule: 'string(self.spec.list.all(a, self.spec.list.all(b, self.spec.list.all(c, true))))'}]", "list: [" + repeat("{name: a}, ", 400) + "]",
			conversion.ReasonCost, prefix + `spec.conversion.converters[0].rules[0] (field "spec.text"): `},
		{"cost of several rules", "[" + repeat("{field: spec.text, rule: 'string(self.spec.list.all(a, self.spec.list.all(b, true)))'}, ", 10) + "]", "list: [" + repeat("{name: a}, ", 600) + "]",
			conversion.ReasonCost, "the rules exceed the cost that the conversion of one object may have (10000000)"},
		{"cost of constant rules", "[" + repeat("{scope: 'spec.list[*]', field: name, rule: \"'x'\"}, ", 20) + "]", "list: [" + repeat("{}, ", 60_000) + "]",
			conversion.ReasonCost, prefix + `spec.conversion.converters[0].rules[8] (scope "spec.list[*]", field "name", at spec.list[20000]): the rules exceed the cost that the conversion of one object may have (10000000)`},
		{"values at a scope", "[{scope: 'spec.list[*]', field: name, rule: \"'x'\"}]", "list: [" + repeat("{}, ", 100_001) + "]",
			conversion.ReasonCost, prefix + `spec.conversion.converters[0].rules[0] (scope "spec.list[*]", field "name"): the object has more than 100000 values at the scope`},
		{"unknown function", "[{field: spec.text, rule: unknown()}]", "{}", conversion.ReasonCompilation,
			prefix + `spec.conversion.converters[0].rules[0] (field "spec.text"): rule: compilation failed: `},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			in := widget(t, test.in)
			before := in.DeepCopy()
			out, err := convert(t, widgets(t, fields, fields, test.rules), in, "v2")
			var failure *conversion.Error
			if !errors.As(err, &failure) || out != nil {
				t.Fatalf("%v, %v", out, err)
			}
			if failure.Reason != test.reason || !contains(err.Error(), test.message) {
				t.Errorf("%s: %v\nwant %s: %s", failure.Reason, err, test.reason, test.message)
			}
			if diff := cmp.Diff(before, in); diff != "" {
				t.Errorf("input changed: %s", diff)
			}
		})
	}
}

func TestConvertOtherObjects(t *testing.T) {
	d := widgets(t, "{}", "{}", "[]")
	d.Versions = append(d.Versions, conversion.Version{Name: "v3", Schema: d.Versions[0].Schema})
	in := widget(t, "{}")
	if out, err := convert(t, d, in, "v1"); out != in || err != nil {
		t.Errorf("same version: %v, %v", out, err)
	}
	for to, message := range map[string]string{
		"v3": `cannot convert Widget "a/b" from v1 to v3: spec.conversion.converters has no converter, and no chain of converters, for these versions`,
		"v4": `cannot convert Widget "a/b" from v1 to v4: the CustomResourceDefinition does not have both versions`,
	} {
		if _, err := convert(t, d, in, to); err == nil || err.Error() != message {
			t.Errorf("%s: %v, want %s", to, err, message)
		}
	}
	other := in.DeepCopy()
	other.SetKind("Gadget")
	if _, err := convert(t, d, other, "v2"); err == nil || !contains(err.Error(), "the object is a Gadget.example.com") {
		t.Errorf("other kind: %v", err)
	}
	for _, malformed := range []map[string]any{
		{"apiVersion": "example.com/v1", "kind": "Widget"},
		{"apiVersion": "example.com/v1", "kind": "Widget", "spec": nil},
		{"apiVersion": "example.com/v1", "kind": "Widget", "spec": "x", "metadata": "y"},
		{"apiVersion": "example.com/v1", "kind": "Widget", "spec": []any{"x"}, "metadata": map[string]any{"name": 1, "annotations": []any{}}},
	} {
		in := in.DeepCopy()
		in.Object = malformed
		if _, err := convert(t, d, in, "v2"); err != nil {
			t.Error(err)
		}
	}
}
