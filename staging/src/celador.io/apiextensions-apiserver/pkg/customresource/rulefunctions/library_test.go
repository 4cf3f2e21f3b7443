// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package rulefunctions_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel/model"
	"k8s.io/apimachinery/pkg/api/resource"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/apiserver/pkg/cel/environment"

	"github.com/google/cel-go/common/types"

	"celador.io/admission/cel/schemaexpression"

	"celador.io/apiextensions-apiserver/pkg/customresource/rulefunctions"
)

func limited(name, format string, limit int64) *structuralschema.Structural {
	return &structuralschema.Structural{Generic: structuralschema.Generic{Type: name}, ValueValidation: &structuralschema.ValueValidation{Format: format, MaxLength: &limit}}
}

func mapOf(values *structuralschema.Structural) structuralschema.Structural {
	limit := int64(10)
	return structuralschema.Structural{
		Generic: structuralschema.Generic{Type: "object"}, ValueValidation: &structuralschema.ValueValidation{MaxProperties: &limit},
		AdditionalProperties: &structuralschema.StructuralOrBool{Structural: values},
	}
}

var selfSchema = &structuralschema.Structural{
	Generic: structuralschema.Generic{Type: "object"},
	Properties: map[string]structuralschema.Structural{
		"text": *limited("string", "", 40), "other": *limited("string", "", 40), "long": *limited("string", "", 3_000_000), "time": *limited("string", "duration", 40), "data": *limited("string", "byte", 40),
		"a": mapOf(limited("string", "", 40)), "b": mapOf(limited("string", "", 40)),
		"numbers": {Generic: structuralschema.Generic{Type: "array"}, Items: &structuralschema.Structural{Generic: structuralschema.Generic{Type: "integer"}}},
	},
}

var env = sync.OnceValue(func() *schemaexpression.Environment {
	base, err := environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion()).Extend(rulefunctions.Options())
	if err != nil {
		panic(err)
	}
	env, err := schemaexpression.NewCompiler(base).Environment(schemaexpression.Scope{
		Self: model.SchemaDeclType(selfSchema, false).MaybeAssignTypeName("object(v1)"),
	}, environment.NewExpressions)
	if err != nil {
		panic(err)
	}
	return env
})

func run(t *testing.T, source string, self map[string]any) schemaexpression.EvaluationResult {
	t.Helper()
	expression, invalid := env().Compile(source)
	if invalid != nil {
		t.Fatalf("%s: %v", source, invalid)
	}
	program, err := expression.Program()
	if err != nil {
		t.Fatal(err)
	}
	if program.Planned() != 1 {
		t.Errorf("%s is left to cel-go", source)
	}
	evaluation := program.Evaluate(t.Context(), &schemaexpression.Activation{Self: schemaexpression.Value(self, schemaexpression.NewSchema(&model.Structural{Structural: selfSchema}))})
	if most, err := expression.MaxCost(schemaexpression.ObjectSize{Entries: 100, Text: 4_000_000}); err != nil || evaluation.HasCost && float64(evaluation.Cost) > most {
		t.Errorf("%s costs %d, more than its estimate %g, %v", source, evaluation.Cost, most, err)
	}
	return evaluation
}

func self() map[string]any {
	return map[string]any{
		"text": "a-1", "other": "x", "long": "a", "time": "5m", "data": "YWI=", "numbers": []any{int64(3), int64(9), int64(1)},
		"a": map[string]any{"k": "1", "l": "2"}, "b": map[string]any{"k": "3", "m": "4"},
	}
}

func TestFunctions(t *testing.T) {
	for _, source := range []string{
		"self.a.merge(self.b) == {'k': '3', 'l': '2', 'm': '4'}", "self.a.merge({}) == self.a", "{}.merge(self.a) == self.a", "{1: 'a'}.merge({2: 'b'})[2] == 'b'",
		"self.a.set('n', 'x') == {'k': '1', 'l': '2', 'n': 'x'}", "self.a.set('k', self.text).k == 'a-1'", "{}.set('a', [1]) == {'a': [1]}", "dyn(self.a).set('k', 1).k == 1",
		"self.a.remove('k') == {'l': '2'}", "self.a.remove('none') == self.a", "self.a.removeAll(['k', 'l', 'n']) == {}", "self.a.removeAll(self.b.map(k, k)) == {'l': '2'}", "dyn(self.a).removeAll(dyn(['k'])) == {'l': '2'}",
		"self.a.merge(self.b).set('n', 'x').remove('k').size() == 3", "!('k' in self.a.remove('k')) && 'k' in self.a",
		"self.time.toText() == '5m0s'", "duration('0s').toText() == '0s'", "duration('90061.5s').toText() == '25h1m1.5s'", "duration('-1ms').toText() == '-1ms'", "duration(self.time.toText()) == self.time", "string(self.time) == '300s'", "self.time.getSeconds() == 300", "duration('1h1m').getMinutes() == 61",
		"quantity('0.5').toText() == '500m'", "quantity('1024Mi').toText() == '1Gi'", "quantity('1').add(quantity('500m')).toText() == '1500m'", "quantity('1.5Gi').asApproximateFloat() == 1610612736.0", "quantity('2k').asInteger() == 2000",
		"quantity('100m').asMilliValue() == 100", "quantity('2').asMilliValue() == 2000", "quantity('-1').asMilliValue() == -1000", "quantity('1u').asMilliValue() == 1", "quantity(string(2000) + 'm').toText() == '2'",
		"math.greatest(self.numbers) == 9", "math.least(1, 2, 3) == 1", "math.ceil(1.2) == 2.0", "math.round(2.5) == 3.0", "math.abs(-3) == 3", "math.bitAnd(6, 3) == 2", "math.sqrt(4) == 2.0", "int(math.floor(7.9)) == 7",
		"regex.replace(self.text, '([a-z])-([0-9])', r'\\2-\\1') == '1-a'", "regex.replace('aaa', 'a', 'b', 2) == 'bba'", "regex.extract(self.text, '-(.*)') == optional.of('1')", "!regex.extract(self.text, 'z').hasValue()", "regex.extractAll('a1b22', '[0-9]+') == ['1', '22']",
		"base64.encode(b'ab') == 'YWI='", "base64.decode('YWI=') == b'ab'", "base64.encode(self.data) == 'YWI='", "string(base64.decode('YWI')) == 'ab'",
	} {
		if evaluation := run(t, source, self()); evaluation.Value != types.True {
			t.Errorf("%s: got %v, %v", source, evaluation.Value, evaluation.Err)
		}
	}
}

func TestErrors(t *testing.T) {
	for source, want := range map[string]string{
		"dyn(self.text).merge(self.a)":                      "no such overload",
		"self.a.merge(dyn(self.text))":                      "no such overload",
		"dyn(1).toText()":                                   "no such overload",
		"dyn(self.text).asMilliValue()":                     "no such overload",
		"dyn({}).set(dyn([1]), 1)":                          "unsupported key type: list",
		"dyn({}).remove(dyn({}))":                           "unsupported key type: map",
		"dyn({}).removeAll(dyn([1.5]))":                     "unsupported key type: double",
		"quantity('9E').add(quantity('9E')).asMilliValue()": "asMilliValue: the thousandfold of 18E does not fit into an int",
		"quantity('-10P').asMilliValue()":                   "asMilliValue: the thousandfold of -10P does not fit into an int",
		"base64.decode(self.text + '!')":                    "illegal base64 data",
		"regex.extract(self.text, self.text + '(')":         "error parsing regexp",
		"regex.replace(self.text, 'a', r'\\3')":             "references group 3",
	} {
		evaluation := run(t, source, self())
		if evaluation.Err == nil || !strings.Contains(evaluation.Err.Error(), want) {
			t.Errorf("%s: got %v, %v, want %s", source, evaluation.Value, evaluation.Err, want)
		}
	}
	for source, want := range map[string]string{
		"self.a.merge([1])":        "no matching overload",
		"{?'a': dyn(self.text)}":   "<input>:1:11: the value of the optional entry a of the map must be an optional, but its type is dyn",
		"self.a.set('k', 1)":       "no matching overload",
		"self.a.set(1, 'k')":       "no matching overload",
		"self.a.remove(1)":         "no matching overload",
		"self.merge(self.a)":       "no matching overload",
		"self.text.toText()":       "no matching overload",
		"self.time.asMilliValue()": "no matching overload",
	} {
		if _, err := env().Compile(source); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %s", source, err, want)
		}
	}
}

// No function changes an argument.
func TestArgumentsStay(t *testing.T) {
	for _, source := range []string{
		"[{'k': '1'}].all(m, m.merge(self.b).size() == 2 && m.set('x', 'y').size() == 2 && m.remove('k').size() == 0 && m == {'k': '1'})",
		"[quantity('1536Mi')].all(q, q.toText() == '1536Mi' && q.asMilliValue() == 1610612736000 && q.toText() == '1536Mi' && q.asInteger() == 1610612736)",
		"[quantity('123456789012345678901234567890')].all(q, q.toText() == q.toText() && !q.isInteger())",
	} {
		for range 2 {
			if evaluation := run(t, source, self()); evaluation.Value != types.True {
				t.Errorf("%s: got %v, %v", source, evaluation.Value, evaluation.Err)
			}
		}
	}
}

// Texts and patterns cannot make a small expression use much memory.
func TestLimits(t *testing.T) {
	long := self()
	long["long"] = strings.Repeat("a", 1_000_000)
	for _, source := range []string{
		"regex.replace(self.long, 'a', self.long)", "regex.replace(self.long, '', self.long)", "regex.replace(self.long, '(a*)', r'\\1\\1\\1\\1\\1\\1\\1\\1\\1\\1\\1\\1\\1\\1\\1\\1\\1\\1\\1\\1')",
		"regex.extract(self.long, self.long)",
	} {
		if evaluation := run(t, source, long); evaluation.Err == nil {
			t.Errorf("%s has a result of %T", source, evaluation.Value)
		}
	}
}

// The cost is that of the sizes of the arguments.
func TestCosts(t *testing.T) {
	cheap, dear := self(), self()
	entries := map[string]any{}
	for i := range 1000 {
		entries[fmt.Sprint(i)] = "x"
	}
	dear["a"] = entries
	for _, source := range []string{"self.a.merge(self.b).size() > 0", "self.a.set('x', 'y').size() > 0", "self.a.remove('x').size() > 0"} {
		expression, _ := env().Compile(source)
		program, err := expression.Program()
		if err != nil {
			t.Fatal(err)
		}
		cost := func(in map[string]any) uint64 {
			return program.Evaluate(t.Context(), &schemaexpression.Activation{Self: schemaexpression.Value(in, schemaexpression.NewSchema(&model.Structural{Structural: selfSchema}))}).Cost
		}
		if difference := cost(dear) - cost(cheap); difference < 998 || difference > 2*celconfig.PerCallLimit {
			t.Errorf("%s: 998 more entries cost %d", source, difference)
		}
	}
}

// Texts of durations and quantities are read as the same values, and maps have the laws of merge.
func TestRoundTrips(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	suffixes := []string{"", "m", "k", "M", "Ki", "Mi", "Gi", "u", "n"}
	randomMap := func() map[string]any {
		m := map[string]any{}
		for range random.IntN(5) {
			m[string(rune('a'+random.IntN(5)))] = fmt.Sprint(random.IntN(3))
		}
		return m
	}
	for range 200 {
		in := self()
		d := time.Duration(random.Int64N(int64(1e17))-int64(5e16)) / time.Duration([]int64{1, 1e3, 1e6}[random.IntN(3)])
		in["time"] = d.String()
		q := fmt.Sprintf("%d%s", random.Int64N(1_000_000)-500_000, suffixes[random.IntN(len(suffixes))])
		in["text"] = q
		in["a"], in["b"] = randomMap(), randomMap()
		parsed := resource.MustParse(q)
		for _, source := range []string{
			"duration(self.time.toText()) == self.time && self.time.toText() == '" + d.String() + "'",
			"quantity(quantity(self.text).toText()).compareTo(quantity(self.text)) == 0 && quantity(self.text).toText() == '" + parsed.String() + "'",
			fmt.Sprintf("quantity(self.text).asMilliValue() == %d", parsed.MilliValue()),
			"self.a.merge(self.a) == self.a && self.a.merge({}) == self.a && self.b.merge(self.a).merge(self.b) == self.a.merge(self.b)",
			"self.a.merge(self.b).all(k, self.a.merge(self.b)[k] == (k in self.b ? self.b[k] : self.a[k])) && self.a.merge(self.b).size() == self.a.size() + self.b.filter(k, !(k in self.a)).size()",
			"self.a.merge(self.b).removeAll(self.b.map(k, k)) == self.a.removeAll(self.b.map(k, k))",
			"self.a.set('z', self.other).remove('z') == self.a && self.a.set('k', 'v') == self.a.merge({'k': 'v'})",
		} {
			if evaluation := run(t, source, in); evaluation.Value != types.True {
				t.Fatalf("%s of %v: got %v, %v", source, in, evaluation.Value, evaluation.Err)
			}
		}
	}
}

// Validation rules have Kubernetes' functions and no others.
func TestValidationRulesLackFunctions(t *testing.T) {
	env, err := schemaexpression.Default().Environment(schemaexpression.Scope{Self: model.SchemaDeclType(selfSchema, false).MaybeAssignTypeName("object(v1)")}, environment.StoredExpressions)
	if err != nil {
		t.Fatal(err)
	}
	for _, source := range []string{
		"self.a.merge(self.b)", "self.a.set('a', 'b')", "self.a.remove('a')", "self.a.removeAll(['a'])", "self.time.toText()", "quantity('1').toText()", "quantity('1').asMilliValue()",
		"math.abs(1)", "math.greatest(1, 2)", "regex.replace('a', 'b', 'c')", "regex.extract('a', 'b')", "regex.extractAll('a', 'b')", "base64.encode(b'a')", "base64.decode('a')",
	} {
		if _, invalid := env.Compile(source); invalid == nil {
			t.Errorf("%s compiles", source)
		}
	}
}
