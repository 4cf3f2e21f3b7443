// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package conversion_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	v1 "celador.io/api/apiextensions/v1"

	"celador.io/apiextensions-apiserver/pkg/customresource/conversion"
)

// sharing returns a CRDSpec of Widget whose converter from v1 to v2 has the variables and rules of
// a YAML text, and whose tables are those in another one.
func sharing(t testing.TB, v1Fields, v2Fields, tables, converter string) *conversion.CRDSpec {
	t.Helper()
	d := widgets(t, v1Fields, v2Fields, "[]")
	for text, into := range map[string]any{tables: &d.Tables, converter: &d.Converters[0]} {
		if err := yaml.UnmarshalStrict([]byte(text), into); err != nil {
			t.Fatal(err)
		}
	}
	return d
}

const (
	sharedFields = `
name: {type: string, maxLength: 50}
size: {type: string, maxLength: 10}
unit: {type: string, maxLength: 10}
count: {type: integer}
list: {type: array, maxItems: 20, items: {type: object, properties: {name: {type: string, maxLength: 20}, label: {type: string, maxLength: 50}, inner: {type: array, maxItems: 5, items: {type: object, properties: {label: {type: string, maxLength: 50}}}}}}}
map: {type: object, maxProperties: 5, additionalProperties: {type: object, properties: {label: {type: string, maxLength: 50}}}}
pair: {type: object, properties: {a: {type: string, maxLength: 50}, b: {type: string, maxLength: 50}}}
`
	sizes = `[{name: sizes, map: {small: S, medium: M, large: L}}, {name: units, map: {"": none, px: px}}]`
)

func TestSharedValues(t *testing.T) {
	for _, test := range []struct{ name, converter, in, want, err string }{{
		name: "a variable in rules and in a later variable",
		converter: `
variables: [{name: full, expression: "self.spec.name + '.' + self.metadata.name"}, {name: parts, expression: "variables.full.split('.')"}]
rules: [{field: spec.size, rule: "variables.parts[1]"}, {field: spec.unit, rule: "variables.full"}, {field: spec.count, rule: "variables.parts.size()"}]`,
		in: "name: web", want: "{name: web, size: b, unit: web.b, count: 2}",
	}, {
		name: "a variable in a scope has the whole object as self",
		converter: `
variables: [{name: prefix, expression: "self.spec.name + '-'"}]
rules: [{scope: "spec.list[*]", field: label, rule: "variables.prefix + self.name"}]`,
		in: "name: web\nlist: [{name: x}, {name: z}]", want: "{name: web, list: [{name: x, label: web-x}, {name: z, label: web-z}]}",
	}, {
		name: "a variable that fails and that no rule reads",
		converter: `
variables: [{name: bad, expression: "self.spec.size"}]
rules: [{field: spec.unit, rule: "has(self.spec.size) ? variables.bad : 'none'"}]`,
		in: "name: web", want: "{name: web, unit: none}",
	}, {
		name: "a variable that fails",
		converter: `
variables: [{name: bad, expression: "self.spec.size"}, {name: worse, expression: "variables.bad + 'x'"}, {name: worst, expression: "variables.worse + 'x'"}]
rules: [{field: spec.unit, rule: "variables.worst"}]`,
		in: "name: web",
		err: `rules[0] (field "spec.unit"): spec.conversion.converters[0].variables[2] (variables.worst): spec.conversion.converters[0].variables[0] (variables.bad): ` +
			"no such key: size (it is unset in this object; ask with has(...) first, or read it with .? and orValue(...))",
	}, {
		name: "null is an optional",
		converter: `
variables: [{name: unit, expression: "has(self.spec.unit) ? self.spec.unit : null"}]
rules: [{field: spec.size, rule: "variables.unit"}, {field: spec.name, rule: "variables.unit.orValue('no unit')"}]`,
		in: "size: x", want: "{name: no unit}",
	}, {
		name: "optional fields of an optional variable",
		converter: `
variables: [{name: pair, expression: "self.?spec.?pair"}, {name: none, expression: "self.?spec.?map.?x"}]
rules: [{field: spec.name, rule: "variables.pair.?a"}, {scope: spec, field: size, rule: "variables.pair.?b.optMap(b, tables.sizes[b])"}, {scope: spec.pair, rule: "variables.pair.?a.hasValue() ? variables.pair : null"}, {field: spec.unit, rule: "variables.none.?label"}]`,
		in: "pair: {a: '1', b: small}", want: "{name: '1', pair: {a: '1', b: small}, size: S}",
	}, {
		name: "an object of the source, and a constructed one for two fields",
		converter: `
variables: [{name: pair, expression: "self.spec.pair"}, {name: other, expression: "Object.spec.pair{a: 'x'}"}]
rules: [{field: spec.name, rule: "variables.pair.a"}, {field: spec.pair, rule: "variables.other"}, {rule: "Object{spec: Object.spec{pair: variables.other}}"}]`,
		in: "pair: {a: '1', b: '2'}", want: "{name: '1', pair: {a: x, b: '2'}}",
	}, {
		name: "an object of root as a result",
		converter: `
rules: [{scope: spec.pair, rule: "root.spec.pair"}]`,
		in: "pair: {a: '1', b: '2'}", want: "{pair: {a: '1', b: '2'}}",
	}, {
		name: "a variable that shadows nothing in a macro",
		converter: `
variables: [{name: x, expression: "'shared'"}]
rules: [{field: spec.name, rule: "[{'x': 'local'}].map(variables, variables.x)[0]"}, {field: spec.unit, rule: "variables.x"}]`,
		in: "{}", want: "{name: local, unit: shared}",
	}, {
		name:      "a table",
		converter: `rules: [{field: spec.size, rule: "tables.sizes[self.spec.size]"}, {field: spec.unit, rule: "tables.units[?self.?spec.?unit.orValue('?')]"}]`,
		in:        "size: medium", want: "{size: M}",
	}, {
		name:      "a table in the other direction",
		converter: `rules: [{field: spec.size, rule: "inverted.sizes[self.spec.size]"}, {field: spec.unit, rule: "inverted.units['none']"}]`,
		in:        "size: L", want: "{size: large, unit: ''}",
	}, {
		name:      "a key that a table does not have",
		converter: `rules: [{field: spec.size, rule: "tables.sizes[self.spec.size]"}]`,
		in:        "size: huge",
		err:       `rules[0] (field "spec.size"): no such key: huge (the table has no such key, or the field is unset in this object; add the key to the table, or read it with [?...] and orValue(...))`,
	}, {
		name:      "asking for a key, and the keys",
		converter: `rules: [{field: spec.size, rule: "self.spec.size in tables.sizes ? tables.sizes[self.spec.size] : self.spec.size"}, {field: spec.unit, rule: "tables.sizes.map(k, k).sort().join('|')"}]`,
		in:        "size: huge", want: "{size: huge, unit: large|medium|small}",
	}, {
		name:      "root and index in a list",
		converter: `rules: [{scope: "spec.list[*]", field: label, rule: "root.spec.name + '-' + string(index) + '/' + string(root.spec.list.size())"}]`,
		in:        "name: web\nlist: [{name: x}, {}]", want: "{name: web, list: [{name: x, label: web-0/2}, {label: web-1/2}]}",
	}, {
		name:      "the key of a map",
		converter: `rules: [{scope: "spec.map[*]", field: label, rule: "index + root.metadata.name"}]`,
		in:        "map: {x: {}, y.z: {label: l}}", want: "{map: {x: {label: xb}, y.z: {label: y.zb}}}",
	}, {
		name:      "the index in the innermost list, and below it",
		converter: `rules: [{scope: "spec.list[*].inner[*].label", rule: "self + string(index + 1)"}]`,
		in:        "list: [{inner: [{label: a}]}, {inner: [{label: b}, {}, {label: c}]}]", want: "{list: [{inner: [{label: a1}]}, {inner: [{label: b1}, {}, {label: c3}]}]}",
	}, {
		name: "everything where closures decline",
		converter: `
variables: [{name: name, expression: "has((true ? self : self).spec) && self.spec.name == 'web' ? self.spec.name : 'x'"}]
rules: [{scope: "spec.list[*]", field: label, rule: "has((true ? root : root).spec) && index == 0 ? variables.name + root.spec.name + tables.sizes.small + inverted.sizes.L : string(index)"}]`,
		in: "name: web\nlist: [{}, {}]", want: "{name: web, list: [{label: webwebSlarge}, {label: '1'}]}",
	}} {
		t.Run(test.name, func(t *testing.T) {
			d := sharing(t, sharedFields, sharedFields, sizes, test.converter)
			if errs, warnings := validate(d, nil); len(errs)+len(guarded(warnings)) > 0 {
				t.Fatalf("%s, %s", errs, warnings)
			}
			in := widget(t, test.in)
			before := in.DeepCopy()
			out, err := convert(t, d, in, "v2")
			if diff := cmp.Diff(before, in); diff != "" {
				t.Errorf("the source changed: %s", diff)
			}
			if test.err != "" {
				var failure *conversion.Error
				if !errors.As(err, &failure) || failure.Reason != conversion.ReasonEvaluation || !strings.HasSuffix(err.Error(), test.err) {
					t.Fatalf("got error %v, want %s", err, test.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			got, _, err := unstructured.NestedMap(out.Object, "spec")
			if err != nil {
				t.Fatal(err)
			}
			want := map[string]any{}
			if err := yaml.Unmarshal([]byte(test.want), &want); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(fmt.Sprint(want), fmt.Sprint(got)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// A variable that many rules read is evaluated once for an object, so that it costs once; its cost
// counts.
func TestVariableCostsOnce(t *testing.T) {
	const expensive = "self.spec.list.map(a, self.spec.list.map(b, a + b)).size()"
	const fields = "list: {type: array, maxItems: 600, items: {type: string, maxLength: 10}}\n"
	var shared, repeated []string
	target := fields
	for i := range 10 {
		target += fmt.Sprintf("f%d: {type: integer}\n", i)
		shared = append(shared, fmt.Sprintf("{field: spec.f%d, rule: variables.total}", i))
		repeated = append(repeated, fmt.Sprintf("{field: spec.f%d, rule: %q}", i, expensive))
	}
	items := "list: [" + strings.TrimSuffix(repeat("x,", 600), ",") + "]"
	rules := func(all []string) string { return "rules: [" + strings.Join(all, ", ") + "]" }
	for _, test := range []struct {
		name, converter string
		reason          conversion.ErrorReason
	}{
		{"shared", fmt.Sprintf("variables: [{name: total, expression: %q}]\n", expensive) + rules(shared), ""},
		{"repeated", rules(repeated), conversion.ReasonCost},
		{"all variables together", "variables: [" + func() (all string) {
			for i := range 10 {
				all += fmt.Sprintf("{name: n%d, expression: %q},", i, expensive)
			}
			return all
		}() + "]\nrules: [{field: spec.f0, rule: 'variables.n0 + variables.n1 + variables.n2 + variables.n3 + variables.n4 + variables.n5 + variables.n6 + variables.n7 + variables.n8 + variables.n9'}]", conversion.ReasonCost},
	} {
		t.Run(test.name, func(t *testing.T) {
			d := sharing(t, fields, target, "[]", test.converter)
			out, err := convert(t, d, widget(t, items), "v2")
			var failure *conversion.Error
			if errors.As(err, &failure); test.reason != "" {
				if failure == nil || failure.Reason != test.reason {
					t.Fatalf("got error %v, want the reason %s", err, test.reason)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if n, _, _ := unstructured.NestedInt64(out.Object, "spec", "f9"); n != 600 {
				t.Errorf("got %d", n)
			}
		})
	}
}

func TestValidateSharedValues(t *testing.T) {
	const (
		variables = "spec.conversion.converters[0].variables"
		tables    = "spec.conversion.tables"
		lost      = `: converting an object from v1 to v2 loses %s: v2 cannot hold them, and no rule reads them. If they matter, add rules that set other fields from them, or keep them in an annotation, such as {field: "metadata.annotations['example.com/v1']", rule: "json.encode(...)"}`
	)
	for _, test := range []struct {
		name, tables, from, to, converter string
		errs, warnings                    []string
	}{{
		name: "names of variables",
		converter: `
variables: [{name: "", expression: "1"}, {name: a-b, expression: "1"}, {name: in, expression: "1"}, {name: a__b, expression: "1"}, {name: a, expression: "1"}, {name: a, expression: "2"}, {name: b, expression: " "}]
rules: [{field: spec.count, rule: variables.a}]`,
		errs: []string{
			variables + `[0].name: Required value: must be the name of the variable`,
			variables + `[1].name: Invalid value: "a-b": must be a CEL identifier of at most 63 characters, not a word of CEL, and without two underscores in succession`,
			variables + `[2].name: Invalid value: "in": must be a CEL identifier of at most 63 characters, not a word of CEL, and without two underscores in succession`,
			variables + `[3].name: Invalid value: "a__b": must be a CEL identifier of at most 63 characters, not a word of CEL, and without two underscores in succession`,
			variables + `[5].name: Duplicate value: "a"`,
			variables + `[6].expression: Required value: must be an expression`,
		},
	}, {
		name: "names and entries of tables", tables: `[{name: no-identifier, map: {a: b}}, {name: a, map: {}}, {name: a, map: {a: b}}]`, converter: "{}",
		errs: []string{
			tables + `[0].name: Invalid value: "no-identifier": must be a CEL identifier of at most 63 characters, not a word of CEL, and without two underscores in succession`,
			tables + `[1].map: Required value: must have an entry`,
			tables + `[2].name: Duplicate value: "a"`,
		},
	}, {
		name: "a variable that does not compile, and what reads it",
		converter: `
variables: [{name: bad, expression: "self.spec.nam"}, {name: later, expression: "variables.bad + 1"}]
rules: [{field: spec.name, rule: "variables.bad"}]`,
		errs: []string{variables + "[0].expression: Invalid value: \"self.spec.nam\": compilation failed: ERROR: <input>:1:10: undefined field 'nam'\n | self.spec.nam\n | .........^\nDid you mean \"name\" instead of \"nam\"?"},
	}, {
		name: "a variable before it is declared",
		converter: `
variables: [{name: first, expression: "variables.second"}, {name: second, expression: "1"}]
rules: [{field: spec.count, rule: "variables.first + variables.second"}]`,
		errs: []string{variables + "[0].expression: Invalid value: \"variables.second\": compilation failed: ERROR: <input>:1:10: undefined field 'second'\n | variables.second\n | .........^\nThere is no variable that the expression can read"},
	}, {
		name: "wrong names",
		converter: `
variables: [{name: total, expression: "1"}]
rules: [{field: spec.count, rule: "variables.totl"}, {field: spec.size, rule: "tables.size['a']"}, {field: spec.size, rule: "inverted.nothing['a']"}, {field: spec.count, rule: index}, {scope: "spec.list[*]", field: label, rule: "root.spec.nam"}]`,
		errs: []string{
			rules + "[0].rule: Invalid value: \"variables.totl\": compilation failed: ERROR: <input>:1:10: undefined field 'totl'\n | variables.totl\n | .........^\nDid you mean variables.total instead of variables.totl?",
			rules + "[1].rule: Invalid value: \"tables.size['a']\": compilation failed: ERROR: <input>:1:7: undefined field 'size'\n | tables.size['a']\n | ......^\nDid you mean tables.sizes instead of tables.size?",
			rules + "[2].rule: Invalid value: \"inverted.nothing['a']\": compilation failed: ERROR: <input>:1:9: undefined field 'nothing'\n | inverted.nothing['a']\n | ........^\nThere is no table nothing: the expression can read sizes, units",
			rules + "[3].rule: Invalid value: \"index\": compilation failed: ERROR: <input>:1:1: undeclared reference to 'index' (in container '')\n | index\n | ^\nindex is the index or key of the entry that the last [*] of the scope stands for: this rule has no [*] in its scope",
			rules + "[4].rule: Invalid value: \"root.spec.nam\": compilation failed: ERROR: <input>:1:10: undefined field 'nam'\n | root.spec.nam\n | .........^\nDid you mean \"name\" instead of \"nam\"?",
		},
	}, {
		name: "wrong types",
		converter: `
variables: [{name: total, expression: "1"}]
rules: [{field: spec.name, rule: variables.total}, {scope: "spec.list[*]", field: label, rule: index}, {scope: "spec.list[*]", field: label, rule: "root.spec.pair"}, {field: spec.count, rule: "tables.sizes['a']"}]`,
		errs: []string{
			rules + `[0].rule: Invalid value: "variables.total": the rule returns int, but the field is a string: write string(...)`,
			rules + `[1].rule: Invalid value: "index": the rule returns int, but the field is a string: write string(...)`,
			rules + `[2].rule: Invalid value: "root.spec.pair": the rule returns an object like spec.pair, but the field is a string: select the field that you want, such as self.spec.replicas`,
			rules + `[3].rule: Invalid value: "tables.sizes['a']": the rule returns string, but the field is an integer: write int(...)`,
		},
	}, {
		name: "objects that are no values", converter: `rules: [{field: spec.name, rule: "json.encode(tables)"}, {field: spec.name, rule: "string([variables].size())"}]`,
		errs: []string{
			rules + "[0].rule: Invalid value: \"json.encode(tables)\": compilation failed: ERROR: <input>:1:13: tables is no value: select one of its fields, such as tables.a\n | json.encode(tables)\n | ............^",
			rules + "[1].rule: Invalid value: \"string([variables].size())\": compilation failed: ERROR: <input>:1:9: variables is no value: select one of its fields, such as variables.a\n | string([variables].size())\n | ........^",
		},
	}, {
		name: "a table that cannot be inverted", tables: "[{name: many, map: {b: x, a: x, c: y}}]",
		converter: `rules: [{field: spec.name, rule: "tables.many['a']"}]`,
	}, {
		name: "a table that is inverted and cannot be", tables: "[{name: many, map: {b: x, a: x, c: y}}]",
		converter: `rules: [{field: spec.name, rule: "inverted.many['x']"}]`,
		errs: []string{
			rules + "[0].rule: Invalid value: \"inverted.many['x']\": compilation failed: ERROR: <input>:1:9: undefined field 'many'\n | inverted.many['x']\n | ........^\nThe table many cannot be inverted, because its keys \"a\" and \"b\" have the same value: give them different values, or write a conditional",
		},
	}, {
		name: "variables that nothing reads",
		converter: `
variables: [{name: a, expression: "1"}, {name: b, expression: "variables.a"}, {name: c, expression: "2"}]
rules: [{field: spec.count, rule: "variables.b"}]`,
		warnings: []string{variables + "[2] has no effect: no rule reads variables.c"},
	}, {
		name: "reads of root and of variables are no losses", from: "a: {type: string}\nb: {type: string}\nc: {type: string}\nlist: {type: array, maxItems: 3, items: {type: object, properties: {d: {type: string}}}}", to: "list: {type: array, items: {type: object, properties: {e: {type: string}}}}",
		converter: `
variables: [{name: c, expression: "self.spec.?c"}, {name: spec, expression: "self.spec"}]
rules: [{scope: "spec.list[*]", field: e, rule: "self.d + root.spec.a + variables.c.orValue('') + variables.spec.b"}]`,
	}, {
		name: "losses beside what variables and root read", from: "a: {type: string}\nb: {type: string}\nc: {type: object, properties: {d: {type: string}, e: {type: string}}}", to: "f: {type: string}",
		converter: `
variables: [{name: spec, expression: "self.?spec"}, {name: unused, expression: "self.spec.b"}]
rules: [{scope: spec, field: f, rule: "root.spec.a + variables.spec.c.d.orValue('')"}]`,
		warnings: []string{variables + "[1] has no effect: no rule reads variables.unused", rules + fmt.Sprintf(lost, "spec.b, spec.c.e")},
	}, {
		name: "a retyped field that a variable may leave as it is", from: "pair: {type: object, properties: {a: {type: string}, b: {type: string}}}", to: "pair: {type: object, properties: {a: {type: integer}, b: {type: string}}}",
		converter: `
variables: [{name: pair, expression: "Object.spec.pair{b: self.spec.pair.b + self.spec.pair.a}"}]
rules: [{field: spec.pair, rule: "variables.pair"}]`,
		errs: []string{
			rules + `: Required value: spec.pair.a is a string in version v1 and an integer in version v2, and no rule sets it. Add a rule that converts the value, such as {field: "spec.pair.a", rule: "self.?spec.?pair.?a.optMap(v, int(v))"}; the rule null leaves the field unset`,
		},
	}, {
		name: "sizes of what variables stand for bound the costs of rules",
		converter: `
variables: [{name: list, expression: "self.spec.list"}, {name: first, expression: "variables.list[?0].?name"}]
rules: [{field: spec.count, rule: "variables.list.map(a, variables.list.map(b, variables.list.map(c, a.name + b.name + c.name))).size()"}, {scope: "spec.list[*]", field: label, rule: "string(root.spec.list.map(e, tables.sizes[?e.name].orValue('')).size())"}, {field: spec.name, rule: "variables.first.optMap(f, f.replace('a', 'b') + tables.sizes.small)"}]`,
	}, {
		name: "an expensive variable", from: "list: {type: array, items: {type: string}}", to: "list: {type: array, items: {type: string}}\ntotal: {type: integer}",
		converter: `
variables: [{name: total, expression: "self.spec.list.map(a, self.spec.list.map(b, self.spec.list.map(c, a + b + c))).size()"}]
rules: [{field: spec.total, rule: "variables.total"}]`,
		errs: []string{variables + "[0].expression: Forbidden: estimated cost of the variable exceeds budget by factor of more than 100x for an object of 64 KiB whose lists have 256 items (try looping over fewer lists for each item of another one, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared): the rule reads values without limits; in version v1, set maxItems of spec.list, maxLength of spec.list[*]"},
	}} {
		t.Run(test.name, func(t *testing.T) {
			if test.from == "" {
				test.from, test.to = sharedFields, sharedFields
			}
			if test.tables == "" {
				test.tables = sizes
			}
			d := sharing(t, test.from, test.to, test.tables, test.converter)
			// Only the rules from v1 to v2 are tested.
			d.Converters[1].Rules = []v1.ConversionRule{{Field: "spec", Rule: "self.?metadata.?name.optMap(x, json.decode('{}'))"}, {Field: "metadata.annotations.all", Rule: "json.encode(self)"}}
			errs, warnings := validate(d, nil)
			if diff := cmp.Diff(test.errs, errs); diff != "" {
				t.Errorf("errors: %s", diff)
			}
			if diff := cmp.Diff(test.warnings, guarded(warnings)); diff != "" {
				t.Errorf("warnings: %s", diff)
			}
		})
	}
}

// guarded returns the warnings without those about reads of values that may be unset.
func guarded(warnings []string) []string {
	var others []string
	for _, warning := range warnings {
		if !strings.Contains(warning, "lack what a rule reads") {
			others = append(others, warning)
		}
	}
	return others
}

func TestLimitsOfSharedValues(t *testing.T) {
	entries := map[string]string{}
	for i := range 1001 {
		entries[fmt.Sprint(i)] = fmt.Sprint(i)
	}
	d := widgets(t, sharedFields, sharedFields, "[]")
	d.Tables = []v1.ConversionTable{{Name: "a", Map: entries}}
	expectErrors := func(want ...string) {
		t.Helper()
		if errs, _ := validate(d, nil); fmt.Sprint(errs) != fmt.Sprint(want) {
			t.Errorf("got %q, want %q", errs, want)
		}
	}
	expectErrors("spec.conversion.tables[0].map: Too many: 1001: must have at most 1000 items")
	d.Tables = make([]v1.ConversionTable, 101)
	expectErrors("spec.conversion.tables: Too many: 101: must have at most 100 items")
	d.Tables = nil
	d.Converters[0].Variables = make([]v1.ConversionVariable, 101)
	expectErrors("spec.conversion.converters[0].variables: Too many: 101: must have at most 100 items")
	d.Converters[0].Variables = []v1.ConversionVariable{{Name: "a", Expression: repeat("1+", 5200) + "1"}}
	expectErrors("spec.conversion.converters[0].variables[0].expression: Too long: may not be more than 10240 bytes")
	// Each variable is twice as large as the one before it.
	d.Converters[0].Variables = []v1.ConversionVariable{{Name: "v0", Expression: "self.spec"}}
	for i := range 99 {
		d.Converters[0].Variables = append(d.Converters[0].Variables, v1.ConversionVariable{Name: fmt.Sprintf("v%d", i+1), Expression: fmt.Sprintf("{'a': [variables.v%d], 'b': [variables.v%d]}", i, i)})
	}
	d.Converters[0].Rules = []v1.ConversionRule{{Field: "spec.count", Rule: "size(variables.v99)"}}
	expectErrors()
	if out, err := convert(t, d, widget(t, "name: x"), "v2"); err != nil {
		t.Error(err)
	} else if n, _, _ := unstructured.NestedInt64(out.Object, "spec", "count"); n != 2 {
		t.Errorf("got %d", n)
	}
}

// A change of a table checks the converters again.
func TestTableIsChanged(t *testing.T) {
	d := sharing(t, sharedFields, sharedFields, sizes, `rules: [{field: spec.name, rule: "inverted.sizes['S']"}]`)
	if errs, _ := validate(d, d); len(errs) > 0 {
		t.Fatal(errs)
	}
	changed := *d
	changed.Tables = []v1.ConversionTable{{Name: "sizes", Map: map[string]string{"a": "S", "b": "S"}}}
	if errs, _ := validate(&changed, d); len(errs) != 1 || !contains(errs[0], "The table sizes cannot be inverted") {
		t.Errorf("got %q", errs)
	}
	if _, err := convert(t, &changed, widget(t, "{}"), "v2"); err == nil || !contains(err.Error(), "cannot be inverted") {
		t.Errorf("got %v", err)
	}
}

// Concurrent conversions share tables and programs, those that cel-go plans at first use included,
// and no values.
func TestConcurrentSharedValues(t *testing.T) {
	d := sharing(t, sharedFields, sharedFields, sizes, `
variables: [{name: label, expression: "has((true ? self : self).spec) && self.spec.size in tables.sizes ? self.metadata.name + tables.sizes[self.spec.size] : 'none'"}]
rules: [{scope: "spec.list[*]", field: label, rule: "variables.label + string(index)"}, {scope: "spec.map[*]", field: label, rule: "has((true ? root : root).spec) && index == 'x' ? variables.label : root.spec.size"}]`)
	converter := conversion.New(d)
	var group sync.WaitGroup
	for worker := range 8 {
		group.Go(func() {
			for i := range 50 {
				name := fmt.Sprintf("w%d-%d", worker, i)
				in := widget(t, "size: small\nlist: [{}, {}]\nmap: {x: {}, z: {}}")
				in.SetName(name)
				out, err := converter.Convert(context.Background(), in, "v2")
				if err != nil {
					t.Error(err)
					return
				}
				want := fmt.Sprintf("map[list:[map[label:%[1]sS0] map[label:%[1]sS1]] map:map[x:map[label:%[1]sS] z:map[label:small]] size:small]", name)
				if got := fmt.Sprint(out.Object["spec"]); got != want {
					t.Errorf("got %s, want %s", got, want)
				}
			}
		})
	}
	group.Wait()
}
