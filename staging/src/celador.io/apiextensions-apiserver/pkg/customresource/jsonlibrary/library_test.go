// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package jsonlibrary_test

import (
	"context"
	"strings"
	"testing"

	"github.com/google/cel-go/common/types"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel/model"
	"k8s.io/apiserver/pkg/cel/environment"

	"celador.io/admission/cel/schemaexpression"

	"celador.io/apiextensions-apiserver/pkg/customresource/jsonlibrary"
)

func typed(name, format string) structuralschema.Structural {
	s := structuralschema.Structural{Generic: structuralschema.Generic{Type: name}}
	if format != "" {
		s.ValueValidation = &structuralschema.ValueValidation{Format: format}
	}
	return s
}

var selfSchema = func() *structuralschema.Structural {
	text := typed("string", "")
	return &structuralschema.Structural{
		Generic: structuralschema.Generic{Type: "object"},
		Properties: map[string]structuralschema.Structural{
			"name":    text,
			"size":    typed("integer", ""),
			"ratio":   typed("number", ""),
			"day":     typed("string", "date"),
			"timeout": typed("string", "duration"),
			"key":     typed("string", "byte"),
			"list":    {Generic: structuralschema.Generic{Type: "array"}, Items: &text},
		},
	}
}()

// evaluate returns the result of an expression, or its error.
func evaluate(t *testing.T, expression string, self map[string]any) (types.String, error) {
	t.Helper()
	evaluation := run(t, expression, self)
	if evaluation.Err != nil {
		return "", evaluation.Err
	}
	text, ok := evaluation.Value.(types.String)
	if !ok {
		t.Fatalf("%s returned %v", expression, evaluation.Value)
	}
	return text, nil
}

func run(t *testing.T, expression string, self map[string]any) schemaexpression.EvaluationResult {
	t.Helper()
	x := compile(t, expression)
	program, err := x.Program()
	if err != nil {
		t.Fatal(err)
	}
	value := schemaexpression.Value(self, schemaexpression.NewSchema(&model.Structural{Structural: selfSchema}))
	return program.Evaluate(context.Background(), &schemaexpression.Activation{Self: value})
}

func compile(t *testing.T, expression string) *schemaexpression.Expression {
	t.Helper()
	base, err := environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion()).Extend(jsonlibrary.Options())
	if err != nil {
		t.Fatal(err)
	}
	env, err := schemaexpression.NewCompiler(base).Environment(schemaexpression.Scope{
		Self: model.SchemaDeclType(selfSchema, false).MaybeAssignTypeName("object(v1)"),
	}, environment.NewExpressions)
	if err != nil {
		t.Fatal(err)
	}
	x, celErr := env.Compile(expression)
	if celErr != nil {
		t.Fatal(celErr)
	}
	return x
}

func TestEncode(t *testing.T) {
	self := map[string]any{
		"name": "a<b", "size": int64(3), "ratio": 0.5, "day": "2026-01-02", "timeout": "90m", "key": "aGk=", "list": []any{"x", "y"},
	}
	tests := []struct{ expression, text string }{
		{"null", "null"},
		{"true", "true"},
		{"-1", "-1"},
		{"18446744073709551615u", "18446744073709551615"},
		{"1.5", "1.5"},
		{`'"\n'`, `"\"\n"`},
		{"self.name", `"a<b"`},
		{"[dyn(1), dyn('a'), dyn([])]", `[1,"a",[]]`},
		{"{'b': dyn(1), 'a': dyn({})}", `{"a":{},"b":1}`},
		{"b'hi'", `"aGk="`},
		{"self.key", `"aGk="`},
		{"duration('90m')", `"1h30m0s"`},
		{"timestamp('2026-01-02T03:04:05.6Z')", `"2026-01-02T03:04:05.6Z"`},
		{"self.list", `["x","y"]`},
		{"self.list + ['z']", `["x","y","z"]`},
		{"self.list.map(e, {'name': e})", `[{"name":"x"},{"name":"y"}]`},
		{"{'name': self.name, 'size': self.size, 'none': dyn(self).?missing, ?'left out': dyn(self).?missing, ?'list': self.?list, 'in': {'a': 1, 'b': ['x', 2, null]}}",
			`{"in":{"a":1,"b":["x",2,null]},"list":["x","y"],"name":"a<b","none":null,"size":3}`},
		{"[self.name, self.size, {'a': 1, 'b': 'x'}]", `["a<b",3,{"a":1,"b":"x"}]`},
		{"optional.none()", "null"},
		{"self.?name", `"a<b"`},
		{"quantity('1Gi')", `"1Gi"`},
		{"ip('10.0.0.1')", `"10.0.0.1"`},
		{"url('https://example.com/x')", `"https://example.com/x"`},
		{"self", `{"day":"2026-01-02","key":"aGk=","list":["x","y"],"name":"a<b","ratio":0.5,"size":3,"timeout":"90m"}`},
	}
	for _, test := range tests {
		t.Run(test.expression, func(t *testing.T) {
			text, err := evaluate(t, "json.encode("+test.expression+")", self)
			if err != nil || string(text) != test.text {
				t.Errorf("%s, %v; want %s", text, err, test.text)
			}
			// Decoding and encoding again keeps the text.
			text, err = evaluate(t, "json.encode(json.decode(json.encode("+test.expression+")))", self)
			if err != nil || string(text) != test.text && test.text != "18446744073709551615" {
				t.Errorf("decoded and encoded: %s, %v; want %s", text, err, test.text)
			}
		})
	}
}

func TestDecode(t *testing.T) {
	tests := []struct{ expression, text string }{
		{`string(json.decode('{"a": {"b": 3}}').a.b + 1)`, "4"},
		{`string(json.decode('{"a": 1}').?b.orValue('none'))`, "none"},
		{`string(json.decode('1.5') * 2.0)`, "3"},
		{`string(type(json.decode('1')) == int && type(json.decode('1.0')) == double)`, "true"},
		{`string(json.decode('null') == null)`, "true"},
		{`json.decode('["a", "b"]').map(e, e + '!').join(',')`, "a!,b!"},
		{`string(self.size == json.decode('3'))`, "true"},
	}
	for _, test := range tests {
		t.Run(test.expression, func(t *testing.T) {
			text, err := evaluate(t, test.expression, map[string]any{"size": int64(3)})
			if err != nil || string(text) != test.text {
				t.Errorf("%s, %v; want %s", text, err, test.text)
			}
		})
	}
}

func TestErrors(t *testing.T) {
	large := strings.Repeat("x", jsonlibrary.MaxSize+1)
	tests := []struct {
		name, expression string
		err              string
	}{
		{"invalid JSON", `json.encode(json.decode('{"a"'))`, "json.decode: invalid JSON: unexpected"},
		{"empty text", `json.encode(json.decode(''))`, "json.decode: invalid JSON"},
		{"two values", `json.encode(json.decode('1 2'))`, "json.decode: invalid JSON"},
		{"large text", "json.encode(json.decode(self.name))", "json.decode: the text has 262145 bytes, and may have at most 262144"},
		{"large value", "json.encode(self.name)", "json.encode: the text has more than 262144 bytes"},
		{"keys that are no strings", "json.encode({1: 2})", "json.encode: keys must be strings, not int"},
		{"not a number", "json.encode(0.0 / 0.0)", "json.encode: NaN has no JSON text"},
		{"type", "json.encode(type(1))", ""},
		{"error in an argument", "json.encode(self.list[3])", "index out of bounds"},
		{"exponential value", "json.encode([1].map(a, [a,a,a,a,a,a,a,a]).map(a, [a,a,a,a,a,a,a,a]).map(a, [a,a,a,a,a,a,a,a])" +
			".map(a, [a,a,a,a,a,a,a,a]).map(a, [a,a,a,a,a,a,a,a]).map(a, [a,a,a,a,a,a,a,a]).map(a, [a,a,a,a,a,a,a,a]))", "json.encode: the text has more than 262144 bytes"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			text, err := evaluate(t, test.expression, map[string]any{"name": large, "list": []any{}})
			if test.err == "" && err == nil {
				return
			}
			if err == nil || !strings.Contains(err.Error(), test.err) {
				t.Errorf("%.100s, %v; want the error %q", text, err, test.err)
			}
		})
	}
}

// The cost limit of an evaluation must bound the time that the functions take.
func TestCost(t *testing.T) {
	short := run(t, "json.encode(self.name)", map[string]any{"name": "x"})
	long := run(t, "json.encode(self.name)", map[string]any{"name": strings.Repeat("x", 10000)})
	if long.Cost < short.Cost+1000 {
		t.Errorf("encoding costs %d for a short text and %d for a long one", short.Cost, long.Cost)
	}
	short = run(t, "json.decode(self.name)", map[string]any{"name": "1"})
	long = run(t, "json.decode(self.name)", map[string]any{"name": `"` + strings.Repeat("x", 10000) + `"`})
	if short.Err != nil || long.Err != nil || long.Cost < short.Cost+1000 {
		t.Errorf("decoding costs %d for a short text and %d for a long one (%v, %v)", short.Cost, long.Cost, short.Err, long.Err)
	}
	for expression, limit := range map[string]float64{
		"json.encode(self)":                           250_000,
		"json.decode(self.name)":                      250_000,
		"json.decode('1')":                            10,
		"json.decode(self.name).map(e, e)":            250_000,
		"json.decode(self.name).spec.items.map(e, e)": 250_000,
	} {
		if estimated, err := compile(t, expression).MaxCost(schemaexpression.ObjectSize{Entries: 1000, Text: 200_000}); err != nil || estimated > limit {
			t.Errorf("the cost of %s is estimated as %v (%v), more than %v", expression, estimated, err, limit)
		}
	}
}
