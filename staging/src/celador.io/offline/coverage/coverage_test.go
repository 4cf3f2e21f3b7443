// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package coverage_test

import (
	"context"
	"strings"
	"testing"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/interpreter"
	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apiserver/pkg/cel/environment"
	"k8s.io/apiserver/pkg/cel/openapi"
	"k8s.io/kube-openapi/pkg/validation/spec"
	"sigs.k8s.io/yaml"

	"celador.io/admission/cel/expression"
	"celador.io/admission/cel/schemaexpression"

	"celador.io/offline/coverage"
)

// recorder keeps the steps of the latest evaluation.
type recorder struct{ steps []expression.Step }

func (*recorder) Compiled(string, string, *expression.Program) {}

func (r *recorder) Evaluated(_ context.Context, _ *expression.Program, steps []expression.Step, _ uint64) {
	r.steps = steps
}

// evaluate evaluates an expression for each object, and returns its plan and the steps of each
// evaluation.
func evaluate(t *testing.T, source string, objects ...string) (*coverage.BranchIndex, [][]expression.Step) {
	t.Helper()
	r := &recorder{}
	program, compileErr := expression.Default().Traced(r).Bare().Compile(source, expression.Declarations{}, environment.StoredExpressions, cel.AnyType, cel.NullType)
	if compileErr != nil {
		t.Fatal(compileErr)
	}
	var all [][]expression.Step
	for _, text := range objects {
		activation, err := interpreter.NewActivation(map[string]any{expression.Object: types.DefaultTypeAdapter.NativeToValue(parse(t, text).Object)})
		if err != nil {
			t.Fatal(err)
		}
		_, _ = program.Evaluate(expression.NewSeries(t.Context(), activation, nil, expression.NewBudget(1e6)))
		all = append(all, r.steps)
	}
	return coverage.NewBranchIndex(program.Traced()), all
}

// parse returns an object. It keeps integers.
func parse(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	object := &unstructured.Unstructured{}
	data, err := yaml.YAMLToJSON([]byte(text))
	if err == nil {
		err = json.Unmarshal(data, &object.Object)
	}
	if err != nil {
		t.Fatal(err)
	}
	return object
}

func TestBranches(t *testing.T) {
	for _, test := range []struct {
		name, expression string
		objects          []string
		covered          []string // branches, as "text: result"
		missing          []string
	}{
		{
			name: "no evaluation", expression: "object.a == 1",
			missing: []string{"object.a == 1 was never true", "object.a == 1 was never false"},
		},
		{
			name: "bound", expression: "object.replicas <= 5", objects: []string{"replicas: 1", "replicas: 7"},
			covered: []string{"object.replicas <= 5: less"},
			missing: []string{"object.replicas was never 5", "object.replicas was never 6"},
		},
		{
			name: "bound reached", expression: "object.replicas <= 5", objects: []string{"replicas: 1", "replicas: 5", "replicas: 6"},
			covered: []string{"object.replicas <= 5: less", "object.replicas <= 5: equal", "object.replicas <= 5: greater"},
		},
		{
			name: "strict bound", expression: "object.replicas < 5", objects: []string{"replicas: 9"},
			covered: []string{"object.replicas < 5: greater"},
			missing: []string{"object.replicas was never 4", "object.replicas was never 5"},
		},
		{
			name: "literal on the left", expression: "5 > object.replicas", objects: []string{"replicas: 9"},
			covered: []string{"5 > object.replicas: less"},
			missing: []string{"object.replicas was never 5", "object.replicas was never 4"},
		},
		{
			name: "bound that is not a literal", expression: "object.replicas >= object.min", objects: []string{"{replicas: 3, min: 3}", "{replicas: 1, min: 3}"},
			covered: []string{"object.replicas >= object.min: equal"},
			missing: []string{"object.replicas was never less than object.min, by 1 if they are integers", "object.replicas was never greater than object.min"},
		},
		{
			name: "sizes are not negative", expression: "size(object.items) > 0", objects: []string{"items: []", "items: [1]"},
			covered: []string{"size(object.items) > 0: equal", "size(object.items) > 0: greater"},
		},
		{
			name: "short circuit", expression: "has(object.a) && object.a != 'x'", objects: []string{"b: 1"},
			covered: []string{"has(object.a): false"},
			missing: []string{"has(object.a) was never true and decisive", `object.a != "x" was never true and decisive`, `object.a != "x" was never false and decisive`},
		},
		{
			name: "results that do not decide", expression: "object.a && object.b || object.c", objects: []string{"{a: false, c: true}", "{a: true, b: false, c: false}"},
			covered: []string{"object.b: false", "object.c: true", "object.c: false"},
			missing: []string{"object.a was never true and decisive", "object.a was never false and decisive", "object.b was never true and decisive"},
		},
		{
			name: "negation, and an operand without a type", expression: "!object.a || object.b", objects: []string{"{a: true, b: false}"},
			covered: []string{"object.a: true", "object.b: false"},
			missing: []string{"object.a was never false and decisive", "object.b was never true and decisive"},
		},
		{
			name: "iterations that decide", expression: "object.c.all(c, c.name != 'x')", objects: []string{"c: [{name: z}, {name: x}]"},
			covered: []string{`object.c.all(c, c.name != "x"): false`, `c.name != "x": false`},
			missing: []string{`object.c.all(c, c.name != "x") was never true`, `c.name != "x" was never true`},
		},
		{
			name: "all iterations", expression: "object.c.exists(c, c > 1)", objects: []string{"c: [0, 1]", "c: [0, 1, 2]"},
			covered: []string{"object.c.exists(c, c > 1): true", "object.c.exists(c, c > 1): false", "c > 1: less", "c > 1: equal", "c > 1: greater"},
		},
		{
			name: "ternary", expression: "object.a == 1 ? object.b : object.c", objects: []string{"{a: 1, b: true}", "{a: 2, c: true}"},
			covered: []string{"(object.a == 1) ? object.b : object.c: evaluated", "object.a == 1: true", "object.a == 1: false"},
		},
		{
			name: "ternary of conditions", expression: "(object.a == 1 ? object.b : object.c) == true || object.d", objects: []string{"{a: 1, b: true}"},
			covered: []string{"((object.a == 1) ? object.b : object.c) == true: true", "object.a == 1: true"},
			missing: []string{
				"((object.a == 1) ? object.b : object.c) == true was never false and decisive", "object.a == 1 was never false",
				"object.d was never true and decisive", "object.d was never false and decisive",
			},
		},
		{
			name: "optional values", expression: "object.?a.orValue(1) == 1", objects: []string{"b: 1"},
			covered: []string{"object.?a.orValue(1) == 1: true", "object.?a: absent"},
			missing: []string{"object.?a.orValue(1) == 1 was never false", "object.?a never had a value"},
		},
		{
			name: "optMap", expression: "(object.?a.optMap(a, a + 1)).orValue(0) == 2", objects: []string{"a: 1"},
			covered: []string{
				"(object.?a.optMap(a, a + 1)).orValue(0) == 2: true", "object.?a.optMap(a, a + 1): present", "object.?a: present",
			},
			missing: []string{
				"(object.?a.optMap(a, a + 1)).orValue(0) == 2 was never false", "object.?a.optMap(a, a + 1) always had a value", "object.?a always had a value",
			},
		},
		{
			name: "text", expression: "'at most ' + string(object.max)", objects: []string{"max: 1"},
			covered: []string{`"at most " + string(object.max): evaluated`},
		},
		{
			name: "an error is no result", expression: "'at most ' + string(object.max)", objects: []string{"a: 1"},
			missing: []string{`"at most " + string(object.max) was never evaluated`},
		},
		{
			name: "text or null", expression: "object.a ? object.b.map(b, string(b))[0] : object.c ? 'c' : null", objects: []string{"{a: true, b: [1]}", "{a: false, c: false}"},
			covered: []string{
				`object.a ? (object.b.map(b, string(b))[0]) : (object.c ? "c" : null): evaluated`, "object.a: true", "object.a: false", "string(b): evaluated", "object.c: false",
			},
			missing: []string{"object.c was never true"},
		},
		{
			name: "lists", expression: "object.c.filter(c, c.used).map(c, c.name)", objects: []string{"c: [{used: false}]"},
			covered: []string{"object.c.filter(c, c.used).map(c, c.name): evaluated", "c.used: false"},
			missing: []string{"c.used was never true", "c.name was never evaluated"},
		},
		{
			name: "lists with positions", expression: "object.c.transformList(i, c, c.used, i)", objects: []string{"c: [{used: false}, {used: true}]"},
			covered: []string{"object.c.transformList(i, c, c.used, i): evaluated", "c.used: true", "c.used: false", "i: evaluated"},
		},
		{name: "constants have no branches", expression: "true"},
		{name: "constant operands have no branches", expression: "1 < 2 && object.a", objects: []string{"a: true"}, covered: []string{"object.a: true"}, missing: []string{"object.a was never false and decisive"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			plan, evaluations := evaluate(t, test.expression, test.objects...)
			branches := plan.Branches()
			for _, steps := range evaluations {
				plan.Cover(branches, steps)
			}
			var covered, missing []string
			for _, b := range branches {
				if b.Covered {
					covered = append(covered, b.Text+": "+string(b.Result))
				} else {
					missing = append(missing, b.Missing)
				}
			}
			if diff := cmp.Diff(test.covered, covered); diff != "" {
				t.Errorf("covered (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(test.missing, missing); diff != "" {
				t.Errorf("missing (-want +got):\n%s", diff)
			}
		})
	}
}

func TestExplain(t *testing.T) {
	for _, test := range []struct {
		name, expression, object string
		want                     coverage.Explanation
	}{
		{
			"comparison", "object.spec.replicas <= 5", "spec: {replicas: 6}",
			coverage.Explanation{Part: "object.spec.replicas <= 5", Value: "false", Values: []coverage.Value{{"object.spec.replicas", "6"}}},
		},
		{
			"operand of &&", "has(object.a) && object.a != 'x' && object.b", "{a: x, b: true}",
			coverage.Explanation{Part: `object.a != "x"`, Value: "false", Values: []coverage.Value{{"object.a", `"x"`}}},
		},
		{
			"arm of a ternary", "has(object.a) ? object.a == 1 : size(object.b) == 1", "b: [1, 2]",
			coverage.Explanation{Part: "size(object.b) == 1", Value: "false", Values: []coverage.Value{{"size(object.b)", "2"}, {"object.b", "[1, 2]"}}},
		},
		{
			"element of a list", "object.c.all(c, c.image.startsWith('a/') || c.name == 'x')", "c: [{image: a/b}, {image: b/b, name: z}, {image: c}]",
			coverage.Explanation{
				Part: `c.image.startsWith("a/") || c.name == "x"`, Value: "false", Values: []coverage.Value{{"c.image", `"b/b"`}, {"c.name", `"z"`}},
			},
		},
		{
			"no element", "object.c.exists(c, c == 1)", "c: [2, 3]",
			coverage.Explanation{Part: "object.c.exists(c, c == 1)", Value: "false", Values: []coverage.Value{{"object.c", "[2, 3]"}}},
		},
		{
			"absent field", "has(object.metadata.labels)", "metadata: {name: web}",
			coverage.Explanation{Part: "has(object.metadata.labels)", Value: "false", Values: []coverage.Value{{"object.metadata", `{name: "web"}`}}},
		},
		{
			"error", "object.a == 1 && object.c.d == 1", "{a: 1, c: {}}",
			coverage.Explanation{Part: "object.c.d == 1", Value: "an error: no such key: d", Values: []coverage.Value{{"object.c.d", "an error: no such key: d"}}},
		},
		{
			"large value", "object.a == 'x'", "a: " + strings.Repeat("z", 500),
			coverage.Explanation{Part: `object.a == "x"`, Value: "false", Values: []coverage.Value{{"object.a", `"` + strings.Repeat("z", 119) + "…"}}},
		},
		{
			"satisfied", "object.a == 1", "a: 1",
			coverage.Explanation{Part: "object.a == 1", Value: "true", Values: []coverage.Value{{"object.a", "1"}}},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			plan, evaluations := evaluate(t, test.expression, test.object)
			got := plan.Explain(evaluations[0])
			got.Text = ""
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("explanation (-want +got):\n%s", diff)
			}
		})
	}
}

// TestFormatUnknownFields covers objects of custom resources with fields that the schema does not
// declare. They have no keys.
func TestFormatUnknownFields(t *testing.T) {
	schema := &spec.Schema{SchemaProps: spec.SchemaProps{Type: []string{"object"}, Properties: map[string]spec.Schema{"a": *spec.Int64Property()}}}
	value := schemaexpression.Value(map[string]any{"a": int64(1), "unknown": "x"}, schemaexpression.NewSchema(&openapi.Schema{Schema: schema}))
	if got, want := coverage.FormatValue(value), "{a: 1}"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
