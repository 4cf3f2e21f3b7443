// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package conversion_test

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/validation/field"

	v1 "celador.io/api/apiextensions/v1"

	"celador.io/apiextensions-apiserver/pkg/customresource/conversion"
)

const hostileFields = `
text: {type: string}
number: {type: integer}
short: {type: string, maxLength: 100}
texts: {type: array, items: {type: string}}
few: {type: array, maxItems: 10, items: {type: string, maxLength: 10}}
items:
  type: array
  items: {type: object, properties: {name: {type: string}}}
labels: {type: object, additionalProperties: {type: string}}
any: {x-kubernetes-preserve-unknown-fields: true}
open: {type: object, x-kubernetes-preserve-unknown-fields: true}
`

// maxAllocated bounds the memory that checking and running a hostile rule allocates in total. It is
// far above what the limits of expressions allow, and far below what rules without limits take.
const maxAllocated = 3 << 30

// notStored marks rules that no server stores, and with which no object is converted.
const notStored = "not stored"

// allocated returns what f allocates.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// TestHostileRules plays rules that try to take the server down. Each ends with an error when the
// CustomResourceDefinition is written, or, if it is stored already, when an object is converted, or
// has a result of bounded size.
func TestHostileRules(t *testing.T) {
	repeated := func(before, text, after string, n int) string { return before + strings.Repeat(text, n) + after }
	big := strings.Repeat("x", 1<<20)
	many := make([]any, 100_000)
	for i := range many {
		many[i] = fmt.Sprintf("item-%d", i)
	}
	objects := make([]any, 100_000)
	for i := range objects {
		objects[i] = map[string]any{"name": fmt.Sprintf("item-%d", i)}
	}
	deep := any("end")
	for range 5000 {
		deep = []any{deep}
	}
	spec := map[string]any{
		"text": big, "short": "x", "number": int64(1), "texts": many, "items": objects, "few": []any{"a", "b"},
		"labels": map[string]any{"a": "b"}, "any": deep, "open": map[string]any{"a": deep},
	}
	for _, tc := range []struct {
		name string
		rule v1.ConversionRule
		// write is part of the error when the rule is written, run of the one when an object is
		// converted. Empty if there is none.
		write, run string
	}{
		// Costs.
		{"nested loops", v1.ConversionRule{Field: "spec.text", Rule: "self.spec.texts.exists(a, self.spec.texts.exists(b, self.spec.texts.exists(c, a + b == c))) ? 'a' : 'b'"}, "exceeds budget", "the rules exceed the cost"},
		{"a loop for each item", v1.ConversionRule{Scope: "spec.items[*]", Field: "name", Rule: "self.name.split('').map(c, c + c).join()"}, "", "cost"},
		{"a cheap rule for each of many items", v1.ConversionRule{Scope: "spec.items[*]", Field: "name", Rule: "self.name + '!'"}, "", ""},
		{"an expensive rule for each of many items", v1.ConversionRule{Scope: "spec.items[*]", Field: "name", Rule: "[1,2,3,4,5,6,7,8,9,10].map(i, string(i)).join()"}, "", "cost"},
		{"regular expression", v1.ConversionRule{Field: "spec.text", Rule: "self.spec.text.matches('(x+x+)+y') ? 'a' : 'b'"}, "", ""},
		{"regular expression from the object", v1.ConversionRule{Field: "spec.text", Rule: "'x'.matches(self.spec.text) ? 'a' : 'b'"}, "", ""},
		{"large regular expression", v1.ConversionRule{Field: "spec.text", Rule: "self.spec.text.matches('((a{100}){100}){100}') ? 'a' : 'b'"}, "invalid matches argument", "invalid matches argument"},

		// Types.
		{"doubled types", v1.ConversionRule{Field: "spec.any", Rule: repeated("self.spec.texts", ".map(x, {x: x})", "", 60)}, "type is too large", "type is too large"},
		{"nested literals", v1.ConversionRule{Field: "spec.any", Rule: repeated("", "[", "1", 100) + strings.Repeat("]", 100)}, "", ""},

		// The parser.
		{"parentheses", v1.ConversionRule{Field: "spec.number", Rule: repeated("", "(", "1", 5000) + strings.Repeat(")", 5000)}, "recursion", "recursion"},
		{"lists", v1.ConversionRule{Field: "spec.any", Rule: repeated("", "[", "", 5000) + strings.Repeat("]", 5000)}, "recursion", "recursion"},
		{"negations", v1.ConversionRule{Field: "spec.any", Rule: repeated("", "!", "true", 5000)}, "", ""},
		{"selections", v1.ConversionRule{Field: "spec.any", Rule: repeated("self", ".a", "", 5000)}, "recursion", "recursion"},
		{"conditionals", v1.ConversionRule{Field: "spec.any", Rule: repeated("", "true ? 1 : ", "null", 800)}, "recursion", "recursion"},
		{"nulls", v1.ConversionRule{Field: "spec.any", Rule: repeated("", "false ? null : ", "null", 600)}, "recursion", "recursion"},
		{"no closing", v1.ConversionRule{Field: "spec.any", Rule: repeated("", "{'a': [", "", 1400)}, "recursion", "recursion"},
		{"only operators", v1.ConversionRule{Field: "spec.any", Rule: strings.Repeat("+ - ? : ", 1200)}, "Syntax error", "Syntax error"},
		{"control characters", v1.ConversionRule{Field: "spec.text", Rule: "'a\x00\x01' + \x00"}, "Syntax error", "Syntax error"},
		{"right-to-left override", v1.ConversionRule{Field: "spec.text", Rule: "self.spec.\u202etext"}, "Syntax error", "Syntax error"},
		{"letters that look alike", v1.ConversionRule{Field: "spec.text", Rule: "self.spec.t\u0435xt"}, "Syntax error", "Syntax error"},
		{"a long rule", v1.ConversionRule{Field: "spec.text", Rule: "'" + strings.Repeat("x", 11*1024) + "'"}, "may not be more than 10240 bytes", ""},
		{"many errors", v1.ConversionRule{Field: "spec.any", Rule: repeated("[", "a.b, ", "c]", 1000)}, "more errors", "more errors"},

		// Paths.
		{"long field", v1.ConversionRule{Field: "spec." + strings.Repeat("x", 1<<20), Rule: "1"}, "may not be more than 1024 bytes", notStored},
		{"many brackets", v1.ConversionRule{Scope: "spec" + strings.Repeat("[*]", 1<<18), Field: "a", Rule: "1"}, "may not be more than 1024 bytes", notStored},
		{"many brackets below the limit", v1.ConversionRule{Scope: "spec" + strings.Repeat("[*]", 300), Field: "a", Rule: "1"}, "is for the entries of lists and maps", "is for the entries of lists and maps"},
		{"unicode in the field", v1.ConversionRule{Field: "spec.\u202etext", Rule: "1"}, "found '\\u202e'", "found '\\u202e'"},

		{"optional values", v1.ConversionRule{Field: "spec.text", Rule: repeated("self.spec.?short", ".optMap(x, x)", "", 600)}, "recursion", "recursion"},
		{"a chain of optional values", v1.ConversionRule{Field: "spec.text", Rule: repeated("self.spec.?short", ".optMap(x, x + 'a')", "", 30)}, "", ""},
		{"optional values in optional values", v1.ConversionRule{Field: "spec.text", Rule: repeated("", "self.spec.?short.optMap(x, ", "x", 30) + strings.Repeat(").orValue('')", 30)}, "", ""},

		// Results that grow.
		{"doubled text", v1.ConversionRule{Field: "spec.any", Rule: repeated("[self.spec.text]", ".map(a, a + a)", "[0]", 40)}, "exceeds budget", "limit"},
		{"doubled text of dynamic type", v1.ConversionRule{Field: "spec.any", Rule: repeated("[dyn(self.spec.text)]", ".map(a, dyn(a + a))", "[0]", 40)}, "exceeds budget", "limit"},
		{"doubled lists", v1.ConversionRule{Field: "spec.any", Rule: repeated("[[dyn(1)]]", ".map(a, a + a)", "[0]", 40)}, "", "limit"},
		{"shared lists", v1.ConversionRule{Field: "spec.any", Rule: repeated("[dyn(1)]", ".map(a, dyn([a, a]))", "[0]", 60)}, "exceeds budget", "more than 1048576 values"},
		{"shared maps", v1.ConversionRule{Field: "spec.any", Rule: repeated("[dyn(1)]", ".map(a, dyn({'a': a, 'b': a}))", "[0]", 60)}, "exceeds budget", "more than 1048576 values"},
		{"shared objects", v1.ConversionRule{Field: "spec.open", Rule: repeated("[dyn(1)]", ".map(a, dyn(Object.spec.open{a: a, b: a}))", "[0]", 60)}, "exceeds budget", "more than 1048576 values"},
		{"JSON of shared lists", v1.ConversionRule{Field: "spec.text", Rule: "json.encode(" + repeated("[dyn(1)]", ".map(a, dyn([a, a]))", "[0]", 60) + ")"}, "exceeds budget", "json.encode"},
		{"JSON of JSON", v1.ConversionRule{Field: "spec.text", Rule: repeated("", "json.encode(", "'\\\\'", 60) + strings.Repeat(")", 60)}, "exceeds budget", "json.encode"},
		{"compared shared lists", v1.ConversionRule{Field: "spec.text", Rule: repeated("[dyn(1)]", ".map(a, dyn([a, a]))", "", 60) + " == " + repeated("[dyn(1)]", ".map(b, dyn([b, b]))", " ? 'a' : 'b'", 60)}, "exceeds budget", "limit"},
		{"compared shared objects", v1.ConversionRule{Field: "spec.text", Rule: repeated("[dyn(1)]", ".map(a, dyn(Object.spec.open{a: a, b: a}))", "", 40) + " == " + repeated("[dyn(1)]", ".map(b, dyn(Object.spec.open{a: b, b: b}))", " ? 'a' : 'b'", 40)}, "exceeds budget", "cannot be compared"},
		{"replaced text", v1.ConversionRule{Field: "spec.text", Rule: "self.spec.text.replace('', self.spec.text)"}, "", "limit"},
		{"joined text", v1.ConversionRule{Field: "spec.text", Rule: "self.spec.texts.join(self.spec.text)"}, "", "limit"},
		{"formatted text", v1.ConversionRule{Field: "spec.text", Rule: "'%.1000000000f'.format([1.0])"}, "", "exceeds the limit of 16777216"},
		{"large quantity", v1.ConversionRule{Field: "spec.text", Rule: "string(quantity('1e1000000000').add(quantity('1')).asApproximateFloat())"}, "", "limit"},
		{"large key", v1.ConversionRule{Field: "spec.labels", Rule: "{self.spec.text: self.spec.text, 'a' + self.spec.text: self.spec.text}"}, "", "more than 4194304 bytes of text"},
		{"more than etcd stores", v1.ConversionRule{Field: "spec.any", Rule: "[self.spec.text, self.spec.text, self.spec.text, self.spec.text, self.spec.text]"}, "", "more than 4194304 bytes of text"},
		{"ranges", v1.ConversionRule{Field: "spec.any", Rule: "lists.range(1000000000)"}, "exceeds budget", "exceeds the limit of 4194304"},

		// JSON.
		{"deep JSON", v1.ConversionRule{Field: "spec.any", Rule: "json.decode(" + repeated("['[']", ".map(a, a + a)", "[0]", 16) + ")"}, "", "json.decode"},
		{"large JSON", v1.ConversionRule{Field: "spec.any", Rule: "json.decode(self.spec.text)"}, "", "at most 262144"},
		{"JSON with duplicates", v1.ConversionRule{Field: "spec.labels", Rule: "json.decode('{\"a\": \"b\", \"a\": \"c\"}')"}, "", ""},
		{"deep copy", v1.ConversionRule{Field: "spec.open", Rule: "self.spec.open"}, "", ""},

		// Values that have no JSON.
		{"not a number", v1.ConversionRule{Field: "spec.any", Rule: "0.0 / 0.0"}, "", "NaN"},
		{"infinity", v1.ConversionRule{Field: "spec.any", Rule: "dyn(1.0 / 0.0)"}, "", "+Inf"},
		{"a type", v1.ConversionRule{Field: "spec.any", Rule: "dyn(type(1))"}, "", "a type is not a value"},
		{"overflow", v1.ConversionRule{Field: "spec.number", Rule: "9223372036854775807 + self.spec.number"}, "", "overflow"},
		{"uint", v1.ConversionRule{Field: "spec.number", Rule: "18446744073709551615u"}, "the uint 18446744073709551615", "the uint 18446744073709551615"},
		{"time", v1.ConversionRule{Field: "spec.text", Rule: "string(timestamp('9999-12-31T23:59:59Z') + duration('1h'))"}, "", "timestamp overflow"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			d := widgets(t, hostileFields, hostileFields, "")
			d.Converters[0].Rules = []v1.ConversionRule{tc.rule}
			used := allocated(func() {
				errs, _ := conversion.Validate(field.NewPath("spec", "conversion"), d, nil)
				expectError(t, "write", errs.ToAggregate(), tc.write)
				in := object(t, "apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: b, namespace: a}")
				in.Object["spec"] = spec
				if tc.run == notStored {
					return
				}
				_, err := conversion.New(d).Convert(context.Background(), in, "v2")
				expectError(t, "run", err, tc.run)
			})
			if used > maxAllocated {
				t.Errorf("allocated %d MiB", used>>20)
			}
		})
	}
}

// expectError checks that an error contains a text, or that there is none, and that it is not too
// long to read.
func expectError(t *testing.T, when string, err error, want string) {
	t.Helper()
	const longest = 20_000
	switch {
	case want == "" && err != nil:
		t.Errorf("%s: %.1000v", when, err)
	case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
		t.Errorf("%s: got %.1000v, want %s", when, err, want)
	case err != nil && len(err.Error()) > longest:
		t.Errorf("%s: the error has %d bytes", when, len(err.Error()))
	}
}

// TestHostileDefinitions plays definitions with many versions, converters and rules.
func TestHostileDefinitions(t *testing.T) {
	const versions = 50
	path := field.NewPath("spec", "conversion")
	schema := spec(t, hostileFields)
	names := make([]string, versions)
	line := &conversion.CRDSpec{Kind: widgets(t, hostileFields, hostileFields, "").Kind}
	for i := range versions {
		names[i] = fmt.Sprintf("v%d", i+1)
		line.Versions = append(line.Versions, conversion.Version{Name: names[i], Schema: schema})
		if i > 0 {
			line.Converters = append(line.Converters,
				v1.Converter{FromVersion: names[i-1], ToVersion: names[i], Rules: []v1.ConversionRule{{Field: "spec.number", Rule: "self.spec.number + 1"}}},
				v1.Converter{FromVersion: names[i], ToVersion: names[i-1], Rules: []v1.ConversionRule{{Field: "spec.number", Rule: "self.spec.number - 1"}}})
		}
	}
	t.Run("chain", func(t *testing.T) {
		errs, _ := conversion.Validate(path, line, nil)
		expectError(t, "write", errs.ToAggregate(), "")
		converter := conversion.New(line)
		there, err := converter.Convert(context.Background(), widget(t, "number: 1"), names[versions-1])
		if err != nil {
			t.Fatal(err)
		}
		if got := there.Object["spec"].(map[string]any)["number"]; got != int64(versions) {
			t.Errorf("got %v", got)
		}
		back, err := converter.Convert(context.Background(), there, "v1")
		if err != nil {
			t.Fatal(err)
		}
		if got := back.Object["spec"].(map[string]any)["number"]; got != int64(1) {
			t.Errorf("got %v", got)
		}
	})
	t.Run("broken chain", func(t *testing.T) {
		broken := *line
		broken.Converters = line.Converters[:len(line.Converters)/2]
		errs, _ := conversion.Validate(path, &broken, nil)
		expectError(t, "write", errs.ToAggregate(), "more pairs of versions")
	})
	t.Run("many converters", func(t *testing.T) {
		many := *line
		many.Converters = slices.Repeat(line.Converters, 20)
		errs, _ := conversion.Validate(path, &many, nil)
		expectError(t, "write", errs.ToAggregate(), "must have at most 100 items")
	})
	t.Run("many rules", func(t *testing.T) {
		d := widgets(t, hostileFields, hostileFields, "")
		d.Converters[0].Rules = slices.Repeat([]v1.ConversionRule{{Field: "spec.number", Rule: "1"}}, 5000)
		errs, _ := conversion.Validate(path, d, nil)
		expectError(t, "write", errs.ToAggregate(), "must have at most 500 items")
	})
	t.Run("many wrong rules", func(t *testing.T) {
		d := *line
		d.Converters = slices.Clone(line.Converters)
		for i := range d.Converters {
			d.Converters[i].Rules = slices.Repeat([]v1.ConversionRule{{Field: "spec.number", Rule: strings.Repeat("no.such.thing + ", 20) + "1"}}, 20)
		}
		errs, _ := conversion.Validate(path, &d, nil)
		if len(errs) != 20 {
			t.Errorf("got %d errors", len(errs))
		}
	})
	t.Run("many large results", func(t *testing.T) {
		d := widgets(t, hostileFields, hostileFields, "")
		million := "[dyn(1)]" + strings.Repeat(".map(a, dyn([a, a]))", 18) + "[0]"
		d.Converters[0].Rules = slices.Repeat([]v1.ConversionRule{{Field: "spec.any", Rule: million}}, 500)
		_, err := conversion.New(d).Convert(context.Background(), widget(t, "number: 1"), "v2")
		expectError(t, "run", err, "the results of the rules have more than 1048576 values")
	})
}
