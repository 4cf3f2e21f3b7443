// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package ruleresult_test

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel/model"
	apiservercel "k8s.io/apiserver/pkg/cel"
	"k8s.io/apiserver/pkg/cel/environment"
	"sigs.k8s.io/yaml"

	"celador.io/admission/cel/rulepath"
	"celador.io/admission/cel/schemaexpression"
	"celador.io/apiextensions-apiserver/pkg/customresource/ruleresult"
	"celador.io/apiextensions-apiserver/pkg/customresource/ruleschema"
)

func structural(t testing.TB, text string) *structuralschema.Structural {
	t.Helper()
	var external apiextensionsv1.JSONSchemaProps
	if err := yaml.UnmarshalStrict([]byte(text), &external); err != nil {
		t.Fatal(err)
	}
	var internal apiextensions.JSONSchemaProps
	if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(&external, &internal, nil); err != nil {
		t.Fatal(err)
	}
	s, err := structuralschema.NewStructural(&internal)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

const schemaText = `
type: object
properties:
  spec:
    type: object
    properties:
      text: {type: string}
      int: {type: integer}
      number: {type: number}
      bool: {type: boolean}
      time: {type: string, format: date-time}
      date: {type: string, format: date}
      duration: {type: string, format: duration}
      bytes: {type: string, format: byte}
      port: {x-kubernetes-int-or-string: true}
      nullable: {type: string, nullable: true}
      any: {x-kubernetes-preserve-unknown-fields: true}
      open:
        type: object
        x-kubernetes-preserve-unknown-fields: true
        properties: {known: {type: string}}
      texts: {type: array, items: {type: string}}
      numbers: {type: array, items: {type: number}}
      labels: {type: object, additionalProperties: {type: string}}
      endpoints:
        type: array
        items:
          type: object
          properties:
            host: {type: string}
            foo-bar: {type: integer}
            tags: {type: array, items: {type: string}}
      pools:
        type: object
        additionalProperties:
          type: object
          properties:
            size: {type: integer}
            kind: {type: string}
      nested:
        type: object
        properties:
          a: {type: string}
          b: {type: object, properties: {c: {type: integer}, d: {type: integer}}}
      similar:
        type: object
        properties:
          a: {type: string}
          extra: {type: integer}
      differs:
        type: object
        properties:
          a: {type: integer}
`

// A fixture compiles rules whose self is the object of the schema, and whose target is the same
// schema.
type fixture struct {
	self        *apiservercel.DeclType
	schema      *structuralschema.Structural
	types       *ruleresult.ObjectTypes
	environment *schemaexpression.Environment
}

func newFixture(t testing.TB) *fixture {
	t.Helper()
	f := &fixture{schema: structural(t, schemaText)}
	f.self = model.SchemaDeclType(f.schema, true).MaybeAssignTypeName("Source")
	f.types = ruleresult.NewObjectTypes(f.schema)
	var err error
	f.environment, err = schemaexpression.Default().Environment(schemaexpression.Scope{Self: f.self, Types: f.types}, environment.NewExpressions)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// target returns the schema of a field.
func (f *fixture) target(t testing.TB, field string) *structuralschema.Structural {
	t.Helper()
	path, err := rulepath.ParseField(field)
	if err != nil {
		t.Fatal(err)
	}
	to, err := ruleschema.Resolve(path, ruleresult.SettableSchema(f.schema))
	if err != nil {
		t.Fatal(err)
	}
	return to
}

const selfText = `
spec:
  text: hello
  int: 7
  number: 1.5
  time: "2020-01-01T00:00:00+01:00"
  date: "2020-01-02"
  duration: 1h30m0s
  bytes: aGVsbG8=
  port: 80
  any: {a: [1, 2.5, x, null, {b: true}]}
  open: {known: k, unknown: {x: [1]}}
  texts: [a, b]
  labels: {b.c: x}
  endpoints: [{host: a, foo-bar: 1, tags: [x]}, {host: b}]
  pools: {p: {size: 1, kind: k}}
  nested: {a: x, b: {c: 1, d: 2}}
  similar: {a: x, extra: 1}
  differs: {a: 1}
`

func object(t testing.TB, text string) any {
	t.Helper()
	var value any
	if err := yaml.Unmarshal([]byte(text), &value); err != nil {
		t.Fatal(err)
	}
	return whole(value)
}

// whole turns the numbers of a YAML decoder into those of a JSON decoder of Kubernetes.
func whole(value any) any {
	switch value := value.(type) {
	case float64:
		if value == float64(int64(value)) {
			return int64(value)
		}
	case []any:
		for i := range value {
			value[i] = whole(value[i])
		}
	case map[string]any:
		for key := range value {
			value[key] = whole(value[key])
		}
	}
	return value
}

func TestRules(t *testing.T) {
	f := newFixture(t)
	for _, tc := range []struct {
		field, rule string
		// existing is the value of the field before.
		existing string
		// want is the value of the field afterwards. "unset" if there is none.
		want string
		// checkErr is the error of Assignable, err of Assign.
		checkErr, err string
	}{
		{field: "spec.text", rule: "self.spec.text + '!'", want: "hello!"},
		{field: "spec.text", rule: "self.spec.int", checkErr: "the rule returns int, but the field is a string: write string(...)"},
		{field: "spec.text", rule: "self.spec.time", checkErr: "the rule returns timestamp, but the field is a string: write string(...), or declare the format date-time in the schema"},
		{field: "spec.text", rule: "self.spec.texts", checkErr: "the rule returns list(string), but the field is a string: select one item, such as the one at [0], or build the value from the items"},
		{field: "spec.text", rule: "self.spec.nested", checkErr: "the rule returns an object like spec.nested, but the field is a string: select the field that you want, such as self.spec.replicas"},
		{field: "spec.text", rule: "type(self.spec.text)", checkErr: "the rule returns type(string), but the field is a string: a type is not a value that can be stored"},
		{field: "spec.text", rule: "self.spec.?text", want: "hello"},
		{field: "spec.text", rule: "self.spec.?nullable", want: "unset"},
		{field: "spec.text", rule: "null", want: "unset"},
		{field: "spec.text", rule: "dyn(1)", err: "the rule returns int, but the field is a string: write string(...)"},
		{field: "spec.text", rule: "dyn(string)", err: "the rule returns type, but the field is a string: a type is not a value that can be stored"},
		{field: "spec.text", rule: "dyn(quantity('1'))", err: "the rule returns kubernetes.Quantity, but the field is a string: return the text that it was made from, or what one of its functions returns"},
		{field: "spec.int", rule: "self.spec.text", checkErr: "the rule returns string, but the field is an integer: write int(...)"},
		{field: "spec.int", rule: "dyn(2.0)", want: "2"},
		{field: "spec.int", rule: "dyn(2.5)", err: "the rule returns 2.5, but the field is an integer: write int(...) to cut off the fraction"},
		{field: "spec.int", rule: "self.spec.number", checkErr: "the rule returns double, but the field is an integer: write int(...)"},
		{field: "spec.int", rule: "7u", want: "7"},
		{field: "spec.int", rule: "18446744073709551615u", err: "the rule returns the uint 18446744073709551615, but the field is an integer"},
		{field: "spec.number", rule: "self.spec.int", want: "7"},
		{field: "spec.number", rule: "0.0 / 0.0", err: "the rule returns NaN, but the field is a number: JSON has no such number"},
		{field: "spec.bool", rule: "self.spec.int", checkErr: "the rule returns int, but the field is a boolean: compare it, such as ... != 0"},
		{field: "spec.time", rule: "self.spec.time", want: `"2020-01-01T00:00:00+01:00"`},
		{field: "spec.time", rule: "'2020-01-01T00:00:00Z'", want: `"2020-01-01T00:00:00Z"`},
		{field: "spec.time", rule: "self.spec.int", checkErr: "the rule returns int, but the field is a string with the format date-time: write timestamp(...)"},
		{field: "spec.time", rule: "self.spec.time + duration('500ms')", want: `"2020-01-01T00:00:00.5+01:00"`},
		{field: "spec.date", rule: "self.spec.date", want: `"2020-01-02"`},
		{field: "spec.duration", rule: "self.spec.duration", want: "1h30m0s"},
		{field: "spec.duration", rule: "self.spec.int", checkErr: "the rule returns int, but the field is a string with the format duration: write duration(string(...) + 's') for seconds"},
		{field: "spec.bytes", rule: "self.spec.bytes", want: "aGVsbG8="},
		{field: "spec.bytes", rule: "bytes('hello')", want: "aGVsbG8="},
		{field: "spec.port", rule: "self.spec.port", want: "80"},
		{field: "spec.port", rule: "'http'", want: "http"},
		{field: "spec.port", rule: "true", checkErr: "the rule returns bool, but the field is an integer or a string: write string(...)"},
		{field: "spec.port", rule: "dyn(1.5)", err: "the rule returns double, but the field is an integer or a string: write int(...) or string(...)"},
		{field: "spec.nullable", rule: "null", want: "unset"},
		{field: "spec.any", rule: "[dyn(1), dyn([2.0]), dyn({'a': true}), dyn(timestamp('2020-01-01T00:00:00Z'))]", want: `[1, [2], {a: true}, "2020-01-01T00:00:00Z"]`},
		{field: "spec.any", rule: "quantity('1')", checkErr: "the rule returns kubernetes.Quantity, but the field is any JSON value: return the text that it was made from, or what one of its functions returns"},
		{field: "spec.open", rule: "self.spec.open", want: "{known: k, unknown: {x: [1]}}"},
		{field: "spec.open", rule: "Object.spec.open{known: 'a', other: [1, 2]}", existing: "{known: b, x: y}", want: "{known: a, x: y, other: [1, 2]}"},
		{field: "spec.open", rule: "{'known': dyn(1)}", err: "the rule returns int for known, which is a string: write string(...)"},
		{field: "spec.texts", rule: "self.spec.texts + ['c']", want: "[a, b, c]"},
		{field: "spec.texts", rule: "self.spec.texts + self.spec.texts", want: "[a, b, a, b]"},
		{field: "spec.texts", rule: "self.spec.text", checkErr: "the rule returns string, but the field is a list of strings: write [...] to make a list of it"},
		{field: "spec.texts", rule: "[1]", checkErr: "the rule returns int for [*], which is a string: write string(...)"},
		{field: "spec.texts", rule: "self.spec.labels", checkErr: "the rule returns map(string, string), but the field is a list of strings: write .map(k, …), which makes a list from the keys of a map"},
		{field: "spec.texts", rule: "[]", existing: "[x]", want: "[]"},
		{field: "spec.texts", rule: "[?self.spec.?text, ?self.spec.?nullable]", want: "[hello]"},
		{field: "spec.texts", rule: "[dyn('a'), dyn(null)]", err: "the rule returns null for [1], which is a string: only optional fields can be left out with null"},
		{field: "spec.numbers", rule: "[1, 2]", want: "[1, 2]"},
		{field: "spec.labels", rule: "self.spec.labels", existing: "{x: y}", want: "{b.c: x}"},
		{field: "spec.labels", rule: "{1: 'a'}", checkErr: "the rule returns map(int, string), but the field is a map of strings: the keys of a map must be strings: write string(...) for the keys"},
		{field: "spec.labels", rule: "dyn({1: 'a'})", err: "the rule returns a map whose keys are not strings, but the field is a map of strings: write string(...) for the keys"},
		{field: "spec.labels", rule: "{'a': 1}", checkErr: "the rule returns int for [*], which is a string: write string(...)"},
		{field: "spec.labels['x']", rule: "1", checkErr: "the rule returns int, but the field is a string: write string(...)"},
		{field: "spec.labels", rule: "'a'", checkErr: "the rule returns string, but the field is a map of strings: write the map as {...}"},
		{field: "spec.endpoints", rule: "self.spec.endpoints", want: "[{host: a, foo-bar: 1, tags: [x]}, {host: b}]"},
		{field: "spec.endpoints", rule: "self.spec.endpoints.filter(e, has(e.tags)).map(e, Object.spec.endpoints{host: e.host, foo__dash__bar: 2, tags: e.tags})", want: "[{host: a, foo-bar: 2, tags: [x]}]"},
		{field: "spec.endpoints", rule: "[Object.spec.endpoints{host: 'a'}.host]", err: "the rule returns string for [0], which is an object: construct the object with Object.<path of the field>{...}"},
		{field: "spec.endpoints", rule: "[{'hots': dyn('a')}]", err: "[0].hots: the schema has no such field: its fields are foo-bar, host, tags"},
		{field: "spec.endpoints", rule: "[{'host': 'a'}]", checkErr: "the rule returns map(string, string) for [*], which is an object: construct the object with Object.spec.endpoints{...}"},
		{field: "spec.pools", rule: "{'q': Object.spec.pools{size: 3}}", existing: "{p: {size: 1}}", want: "{q: {size: 3}}"},
		{field: "spec.nested", rule: "Object.spec.nested{b: Object.spec.nested.b{c: 9}}", existing: "{a: x, b: {c: 1, d: 2}}", want: "{a: x, b: {c: 9, d: 2}}"},
		{field: "spec.nested", rule: "Object.spec.nested{?a: self.spec.?nullable, b: self.spec.nested.b}", existing: "{a: x}", want: "{a: x, b: {c: 1, d: 2}}"},
		{field: "spec.nested", rule: "Object.spec.nested{a: null}", existing: "{a: x, b: {c: 1}}", want: "{b: {c: 1}}"},
		{field: "spec.nested", rule: "self.spec.nested", existing: "{a: y}", want: "{a: x, b: {c: 1, d: 2}}"},
		{field: "spec.nested", rule: "self.spec.similar", want: "{a: x}"},
		{field: "spec.nested", rule: "self.spec.differs", checkErr: "the rule returns int for a, which is a string: write string(...)"},
		{field: "spec.nested", rule: "dyn(self.spec.differs)", err: "the rule returns int for a, which is a string: write string(...)"},
		{field: "spec.nested", rule: "Object.spec.differs{a: 1}", checkErr: "the rule returns int for a, which is a string: write string(...)"},
		{field: "spec.nested", rule: "Object.spec.similar{extra: 1}", err: "extra: the schema has no such field: its fields are a, b"},
		{field: "spec.nested", rule: "optional.of(Object.spec.nested{a: 'z'})", existing: "{b: {c: 1}}", want: "{a: z, b: {c: 1}}"},
		{field: "metadata", rule: "Object.metadata{labels: {'a': 'b'}}", existing: "{name: n, annotations: {x: y}}", want: "{name: n, annotations: {x: y}, labels: {a: b}}"},
		{field: "", rule: "Object{spec: Object.spec{text: 'x'}}", existing: "{kind: K, spec: {int: 1}}", want: "{kind: K, spec: {int: 1, text: x}}"},
	} {
		t.Run(tc.field+"="+tc.rule, func(t *testing.T) {
			expression, celErr := f.environment.Compile(tc.rule)
			if celErr != nil {
				t.Fatal(celErr)
			}
			to := f.target(t, tc.field)
			err := f.types.Assignable(expression.OutputType(), f.self, to)
			if text(err) != tc.checkErr {
				t.Fatalf("Assignable: got %v, want %q", err, tc.checkErr)
			}
			if err != nil {
				return
			}
			program, err := expression.Program()
			if err != nil {
				t.Fatal(err)
			}
			self := object(t, selfText)
			evaluation := program.Evaluate(context.Background(), &schemaexpression.Activation{Self: schemaexpression.Value(self, schemaexpression.NewSchema(&model.Structural{Structural: f.schema}))})
			if evaluation.Err != nil {
				t.Fatal(evaluation.Err)
			}
			var existing any
			if tc.existing != "" {
				existing = object(t, tc.existing)
			}
			got, set, err := new(ruleresult.Assigner).Assign(existing, evaluation.Value, to)
			if text(err) != tc.err {
				t.Fatalf("Assign: got %v, want %q", err, tc.err)
			}
			if tc.err != "" {
				return
			}
			if set == (tc.want == "unset") {
				t.Fatalf("set is %v", set)
			}
			if !set {
				return
			}
			if diff := cmp.Diff(object(t, tc.want), got); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(object(t, selfText), self); diff != "" {
				t.Errorf("self changed: %s", diff)
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
