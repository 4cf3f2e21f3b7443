// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package limits_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"k8s.io/apiserver/pkg/cel/environment"
	"k8s.io/apiserver/pkg/cel/library"

	"celador.io/admission/cel/internal/evaluator"
	"celador.io/admission/cel/internal/limits"
)

func environmentWithVariables(t *testing.T) *cel.Env {
	t.Helper()
	env, err := environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion()).StoredExpressionsEnv().Extend(
		cel.Variable("object", cel.DynType), library.JSONPatch())
	if err != nil {
		t.Fatal(err)
	}
	return env
}

// operands holds expressions of all types, including expressions that fail.
var operands = []string{
	"1", "1.5", "2u", "true", "null", "'a'", "'abc'", "b'abc'", "''", "[]", "[1, 2]", "['a', 'b']", "[[1], [2]]", "[dyn(1), dyn('a')]", "{}", "{'a': 1}", "{'a': [1]}",
	"object.text", "object.list", "object.map", "object.nested", "object.missing", "object.number", "dyn('a')", "dyn([1])", "dyn([[1], [1]])", "object.list + [1]", "[object.list, [object.list]]",
	"duration('1s')", "timestamp(0)", "type(1)", "optional.of([1])", "optional.none()", "quantity('1')", "url('https://a.example.com/p?q=r')", "object.list.map(x, [x])",
	"['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'].map(x, x + '" + strings.Repeat("long ", 60) + "')", "lists.range(100)", "1 / (object.number - 3)",
}

// calls holds calls of each function with a guard. $ and % are replaced by operands.
var calls = []string{
	"$ + %", "$ == %", "$ != %", "$ in %", "dyn($) in dyn(%)", "$.includes(%)", "$.indexOf(%)", "$.lastIndexOf(%)", "$.indexOf(%, 1)", "sets.contains($, %)", "sets.intersects($, %)", "sets.equivalent($, %)",
	"$.distinct()", "$.sort()", "$.sortBy(x, x)", "$.isSorted()", "$.sum()", "$.min()", "$.max()", "lists.range($)", "$.slice(0, 1)", "$.reverse()", "$.flatten()", "$.flatten(2)",
	"$.join()", "$.join(%)", "$.replace('a', %)", "$.replace(%, 'bcd', 1)", "$.split(%)", "$.split('', 2)", "'%s and %s'.format([$, %])", "$.format([1])", "'%.3f'.format([$])", "$.charAt(0)", "$.substring(1)", "$.substring(0, 1)",
	"$.trim()", "$.lowerAscii()", "$.upperAscii()", "strings.quote($)", "jsonpatch.escapeKey($)", "string($)", "bytes($)", "$.getHost()", "$.getHostname()", "$.getEscapedPath()", "$.getQuery()",
	"$.matches('^a')", "$.matches(%)", "$.find('a')", "$.find(%)", "$.findAll('[a-c]')", "$.findAll(%)", "$.findAll('a', 1)", "format.named('dns1123Label').hasValue() && format.dns1123Label().validate($).hasValue()",
	"quantity($)", "isQuantity($)", "[$, %" + strings.Repeat(", null", 70) + "]", "$ == % || true", "($ + %) == ($ + %)", "[1, 2].all(x, [x] + [$] != [%])", "[$, %] == [$, %]", "matches($, 'b$')",
}

// TestDecorated checks that programs have the same values, errors and costs with and without
// guards.
func TestDecorated(t *testing.T) {
	env := environmentWithVariables(t)
	functions, err := evaluator.NewLibrary(env)
	if err != nil {
		t.Fatal(err)
	}
	input := map[string]any{"object": map[string]any{
		"text": "abc", "number": 3, "list": []any{1, "a", nil}, "map": map[string]any{"a": []any{1}}, "nested": []any{[]any{1}, map[string]any{"b": 2}},
	}}
	values, errors := map[string]int{}, map[string]int{}
	for _, call := range calls {
		for i, left := range operands {
			others := operands
			if !strings.Contains(strings.ReplaceAll(call, "'%", ""), "%") {
				others = operands[:1]
			}
			for j := range others {
				source := call
				source = strings.ReplaceAll(source, "$", left)
				source = replaceOperand(source, operands[(i+j)%len(operands)])
				checked, issues := env.Compile(source)
				if issues.Err() != nil {
					continue
				}
				plain, err := env.Program(checked, cel.InterruptCheckFrequency(100))
				guarded, guardedErr := env.Program(checked, cel.InterruptCheckFrequency(100), cel.CustomDecoratorV2(limits.Decorator(checked.NativeRep(), functions)))
				if fmt.Sprint(err) != fmt.Sprint(guardedErr) {
					t.Errorf("%s: planning: %v, want %v", source, guardedErr, err)
				}
				if err != nil {
					continue
				}
				want, wantDetails, wantErr := plain.ContextEval(t.Context(), input)
				got, details, err := guarded.ContextEval(t.Context(), input)
				if fmt.Sprint(err) != fmt.Sprint(wantErr) {
					t.Errorf("%s: error %v, want %v", source, err, wantErr)
				} else if err == nil && fmt.Sprintf("%T %v", got, got.Value()) != fmt.Sprintf("%T %v", want, want.Value()) {
					t.Errorf("%s: %v, want %v", source, got, want)
				}
				if got, want := *details.ActualCost(), *wantDetails.ActualCost(); got != want {
					t.Errorf("%s costs %d, want %d", source, got, want)
				}
				for _, function := range functionsOf(checked) {
					if err == nil {
						values[function]++
					} else {
						errors[function]++
					}
				}
			}
		}
	}
	for name := range env.Functions() {
		guarded := limits.Of(name) != nil || name == operators.Equals || name == operators.NotEquals
		// Authorizers are checked with the evaluator.
		if guarded && name != "fieldSelector" && name != "labelSelector" && (values[name] == 0 || errors[name] == 0) {
			t.Errorf("%s has %d values and %d errors, want some of both", name, values[name], errors[name])
		}
	}
	if values[operators.Add] == 0 {
		t.Error("no expression with + has a value")
	}
}

// replaceOperand replaces % except in the verbs of format strings.
func replaceOperand(call, operand string) string {
	var b strings.Builder
	for i, r := range call {
		if r == '%' && !strings.HasPrefix(call[i:], "%s") && !strings.HasPrefix(call[i:], "%.") {
			b.WriteString(operand)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

func functionsOf(checked *cel.Ast) []string {
	var names []string
	ast.PreOrderVisit(checked.NativeRep().Expr(), ast.NewExprVisitor(func(e ast.Expr) {
		if e.Kind() == ast.CallKind {
			names = append(names, e.AsCall().FunctionName())
		}
	}))
	return names
}

// harmless lists the functions without a guard. Their work and results are at most a small factor
// larger than their arguments. Expressions cannot call in and _in_ as functions.
var harmless = strings.Fields(`
	!_ -_ @not_strictly_false __not_strictly_false__ _!=_ _==_ _%_ _&&_ _*_ _-_ _/_ _<=_ _<_ _>=_ _>_ _?_:_ _?._ _[?_] _[_] _||_ cel.@mapInsert
	add allowed asApproximateFloat asInteger bool check cidr compareTo contains containsCIDR containsIP double duration dyn endsWith error errored family
	first last in _in_ format.named getDate getDayOfMonth getDayOfWeek getDayOfYear getFullYear getHours getMilliseconds getMinutes getMonth getPort getScheme getSeconds group hasValue
	int ip ip.isCanonical isCIDR isGlobalUnicast isGreaterThan isIP isInteger isLessThan isLinkLocalMulticast isLinkLocalUnicast isLoopback isSemver isURL isUnspecified
	major masked minor name namespace optional.none optional.of optional.ofNonZeroValue optional.unwrap or orValue patch path prefixLength reason resource semver serviceAccount sign
	size startsWith sub subresource timestamp type uint unwrapOpt url value`)

// TestFunctions fails if the environment has a function that is neither guarded nor listed as
// harmless.
func TestFunctions(t *testing.T) {
	for name := range environmentWithVariables(t).Functions() {
		guarded := limits.Of(name) != nil
		if isFormat := strings.HasPrefix(name, "format."); !guarded && !isFormat && !slices.Contains(harmless, name) {
			t.Errorf("%s has no guard and is not listed as harmless", name)
		}
		if guarded && slices.Contains(harmless, name) {
			t.Errorf("%s is listed as harmless and has a guard", name)
		}
	}
}
