// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package coverage_test

import (
	"context"
	"encoding/json"
	"maps"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/cel-go/common/types"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"

	"celador.io/admission/cel/expression"
	"celador.io/admission/cel/schemaexpression"
	"celador.io/apiextensions-apiserver/pkg/customresource/validationrules"

	"celador.io/offline/coverage"
)

// tokens matches the literals, names and operators of expressions. Texts are matched to leave them
// alone.
var tokens = regexp.MustCompile(`'[^']*'|<=|>=|==|!=|&&|\|\||[<>]|\d+`)

// replacements holds the mutations of operators.
var replacements = map[string][]string{
	"<=": {"<", ">", ">=", "==", "!="}, "<": {"<=", ">", ">=", "==", "!="}, ">=": {">", "<", "<=", "==", "!="}, ">": {">=", "<", "<=", "==", "!="},
	"==": {"!="}, "!=": {"=="}, "&&": {"||"}, "||": {"&&"},
}

// mutants returns the expressions with one change of a, each.
func mutants(expression string) []string {
	var changed []string
	for _, at := range tokens.FindAllStringIndex(expression, -1) {
		token := expression[at[0]:at[1]]
		with := replacements[token]
		if n, err := strconv.Atoi(token); err == nil {
			with = []string{strconv.Itoa(n + 1), strconv.Itoa(n - 1)}
		}
		for _, r := range with {
			changed = append(changed, expression[:at[0]]+r+expression[at[1]:])
		}
	}
	return changed
}

// ruleRecorder keeps the program of a rule and the steps of its latest evaluation.
type ruleRecorder struct {
	program *schemaexpression.Program
	steps   []schemaexpression.Step
}

func (r *ruleRecorder) Compiled(_, _ string, program *schemaexpression.Program) { r.program = program }

func (r *ruleRecorder) Evaluated(_ context.Context, _ *schemaexpression.Program, steps []schemaexpression.Step, _ uint64) {
	r.steps = steps
}

// evaluateRule is evaluate for the rule of a CustomResourceDefinition with the fields a, b, used
// and list, which reads self instead of object.
func evaluateRule(t *testing.T, source string, objects ...string) (*coverage.BranchIndex, [][]expression.Step) {
	t.Helper()
	value := func(kind string) structuralschema.Structural {
		return structuralschema.Structural{Generic: structuralschema.Generic{Type: kind}}
	}
	list, number := value("array"), value("integer")
	list.Items = &number
	schema := value("object")
	schema.Properties = map[string]structuralschema.Structural{"a": number, "b": number, "used": value("boolean"), "list": list}
	schema.XValidations = apiextensionsv1.ValidationRules{{Rule: strings.ReplaceAll(source, "object.", "self.")}}
	r := &ruleRecorder{}
	rules := validationrules.TakeTraced(&schema, true, r, "", nil)
	if r.program == nil {
		t.Fatalf("%s does not compile as a rule", source)
	}
	var all [][]expression.Step
	for _, text := range objects {
		rules.Validate(t.Context(), parse(t, text).Object, nil)
		all = append(all, r.steps)
	}
	return coverage.NewBranchIndex(r.program.Traced()), all
}

// TestMutants checks that objects that cover all branches of an expression tell it from its
// mutants. For each expression, random objects are added until all branches are covered.
func TestMutants(t *testing.T) {
	t.Run("policies", func(t *testing.T) { testMutants(t, evaluate) })
	t.Run("rules", func(t *testing.T) { testMutants(t, evaluateRule) })
}

func testMutants(t *testing.T, evaluate func(t *testing.T, source string, objects ...string) (*coverage.BranchIndex, [][]expression.Step)) {
	for _, test := range []struct {
		expression string
		// base is an object. Each case changes one of its fields, so that it violates one condition
		// at a time: the operands after the first one that decides are not evaluated, and can hide
		// a mutant.
		base   map[string]any
		others []map[string]any
	}{
		{"object.a <= 3", nil, nil},
		{"object.a < 3", nil, nil},
		{"2 < object.a", nil, nil},
		{"object.a >= 1", nil, nil},
		{"object.a == 2", nil, nil},
		{"object.a != 2", nil, nil},
		{"object.a <= object.b", map[string]any{"b": 3}, nil},
		{"object.a > 1 || object.b > 3", map[string]any{"a": 0, "b": 1}, nil},
		{"object.a > 1 && object.b <= 3", map[string]any{"a": 3, "b": 1}, nil},
		{"object.a > 1 && object.b <= 3 && object.a + object.b != 4", map[string]any{"a": 4, "b": 1}, nil},
		{"(object.a > 1 && object.b <= 3) || object.used", map[string]any{"a": 2, "b": 3, "used": false}, []map[string]any{{"used": true, "a": 0}}},
		{"(object.a > 1 || object.b <= 3) && object.used", map[string]any{"a": 1, "b": 4, "used": true}, []map[string]any{{"used": false, "a": 3}}},
		{"has(object.used) && object.a == 4", map[string]any{"a": 4, "used": true}, nil},
		{"!has(object.used) || object.a < 3", map[string]any{"a": 5, "used": true}, nil},
		{"has(object.used) ? object.a <= 2 : object.b <= 3", map[string]any{"a": 5, "b": 5, "used": true}, nil},
		{"object.list.all(x, x >= 2)", nil, nil},
		{"object.list.exists(x, x == 2 || x == 4)", nil, nil},
		{"object.list.filter(x, x > 2).size() == 0", nil, nil},
		{"object.?used.orValue(true) == true", nil, []map[string]any{{"used": false}, {"used": true}}},
	} {
		t.Run(test.expression, func(t *testing.T) {
			objects := variations(test.base, test.others)
			plan, evaluations := evaluate(t, test.expression, objects...)
			changed := map[string][][]expression.Step{}
			for _, mutant := range mutants(test.expression) {
				_, changed[mutant] = evaluate(t, mutant, objects...)
			}
			for seed := range uint64(50) {
				order := rand.New(rand.NewPCG(seed, 0)).Perm(len(objects))
				branches, used := plan.Branches(), 0
				for ; coverage.Summarize([]coverage.Expression{{Branches: branches}}).Percent() < 100; used++ {
					if used == len(order) {
						t.Fatalf("no object covers all of %+v", branches)
					}
					before := coverage.Summarize([]coverage.Expression{{Branches: branches}})
					plan.Cover(branches, evaluations[order[used]])
					if coverage.Summarize([]coverage.Expression{{Branches: branches}}) == before {
						order[used] = -1 // an author writes no case that adds nothing
					}
				}
				for mutant, steps := range changed {
					caught := false
					for _, i := range order[:used] {
						caught = caught || i >= 0 && result(evaluations[i]) != result(steps[i])
					}
					equivalent := true
					for i := range objects {
						equivalent = equivalent && result(evaluations[i]) == result(steps[i])
					}
					if !caught && !equivalent {
						t.Errorf("%s survives", mutant)
						delete(changed, mutant)
					}
				}
			}
		})
	}
}

// variations returns objects with the fields of base, one of which is changed, or those of others.
func variations(base map[string]any, others []map[string]any) []string {
	var objects []string
	add := func(fields map[string]any) {
		object := map[string]any{"a": 1, "b": 1}
		maps.Copy(object, base)
		maps.Copy(object, fields)
		maps.DeleteFunc(object, func(_ string, value any) bool { return value == nil })
		text, _ := json.Marshal(object)
		objects = append(objects, string(text))
	}
	for n := range 7 {
		add(map[string]any{"a": n, "list": []int{}})
		add(map[string]any{"b": n, "list": []int{n}})
		add(map[string]any{"a": n, "used": nil})
		add(map[string]any{"b": n, "used": nil})
	}
	for _, fields := range others {
		add(fields)
	}
	return objects
}

// result returns the value of an evaluation, whose step is the last. All errors are the same.
func result(steps []expression.Step) any {
	value := steps[len(steps)-1].Value
	if types.IsError(value) {
		return "error"
	}
	return value
}
