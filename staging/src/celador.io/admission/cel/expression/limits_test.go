// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package expression_test

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/interpreter"

	"celador.io/admission/cel/expression"
	"celador.io/admission/cel/internal/limits"
)

// chain returns variables v0 to vn, each computed from the one before.
func chain(n int, first, next string) [][2]string {
	variables := [][2]string{{"v0", first}}
	for i := range n {
		variables = append(variables, [2]string{fmt.Sprintf("v%d", i+1), strings.ReplaceAll(next, "$", fmt.Sprintf("variables.v%d", i))})
	}
	return variables
}

// addedToItself and nested return chains of 30 variables, the last of which has 2^30 elements.
func addedToItself(first string) [][2]string { return chain(30, first, "dyn($) + dyn($)") }
func nested(first string) [][2]string        { return chain(30, first, "[$, $]") }

// failingVariables returns variables that fail after they have read others, each of which compares
// large lists.
func failingVariables(n int) [][2]string {
	variables := chain(20, "1", "[$, $]")
	for i := range n {
		fails := "object.missing"
		for j := range 3 {
			name := fmt.Sprintf("e%d_%d", i, j)
			variables = append(variables, [2]string{name, "variables.v20 == variables.v20"})
			fails = "variables." + name + " && " + fails
		}
		variables = append(variables, [2]string{fmt.Sprint("w", i), fails})
	}
	return variables
}

// TestLimitOfOneBudget checks that an exceeded limit ends the evaluations with one budget, but not
// the evaluations with the next budget.
func TestLimitOfOneBudget(t *testing.T) {
	object := largeObject(t)
	series := expression.NewSeries(t.Context(), object, nil, expression.NewBudget(plenty))
	expensive, other := compile(t, "[1]"+strings.Repeat(".map(a, [a, a])", 26)+".all(x, x == x)"), compile(t, "object.name == 'nobody'")
	if value, err := expensive.Evaluate(series); err == nil || !strings.Contains(err.Error(), stepsExceed) {
		t.Fatalf("got %v, %v", value, err)
	}
	if value, err := other.Evaluate(series); err == nil {
		t.Errorf("got %v after a limit was exceeded", value)
	}
	series.Begin(t.Context(), object, nil, expression.NewBudget(plenty))
	if value, err := other.Evaluate(series); err != nil || value != types.False {
		t.Errorf("got %v, %v with the next budget", value, err)
	}
}

// evaluate evaluates an expression on an object with 3 MiB of text and a list of 20,000 nulls.
func evaluate(t *testing.T, ctx context.Context, variables [][2]string, in expression.Declarations, source string) (ref.Val, error) {
	t.Helper()
	composition := expression.Default().Compose()
	defer expression.Default().Release(composition)
	var declared []expression.Variable
	for _, v := range variables {
		program, err := composition.Declare(v[0], v[1], in, stored)
		if err != nil {
			t.Fatalf("%s: %v", v[1], err)
		}
		declared = append(declared, expression.Variable{Name: v[0], Program: program})
	}
	expression.Link(declared)
	program, err := composition.Compile(source, in, stored, cel.AnyType)
	if err != nil {
		t.Fatalf("%s: %v", source, err)
	}
	return program.Evaluate(expression.NewSeries(ctx, largeObject(t), declared, expression.NewBudget(plenty)))
}

func largeObject(t *testing.T) interpreter.Activation {
	t.Helper()
	items := make([]any, 500)
	for i := range items {
		items[i] = map[string]any{"name": fmt.Sprint(i), "labels": map[string]any{"a": "b", "c": "d"}, "text": strings.Repeat("x", 500), "ports": []any{int64(80), int64(443)}}
	}
	return values(t, map[string]any{"object": map[string]any{
		"items": items,
		"text":  strings.Repeat("abcd", 3<<18), "numbers": make([]any, 20_000), "name": "abcdabcdabcd", "digits": strings.Repeat("1", 2000), "tiny": "1E-999999999", "huge": "1e1000000000", "tinier": "1e-99999999999999999999",
	}})
}

const (
	textExceeds     = "exceeds the limit of 16777216; select or shorten the parts before combining them"
	elementsExceed  = "exceeds the limit of 4194304; filter the lists before combining them"
	madeExceeds     = "the strings, lists and maps that the expressions of one policy make exceed the limit of 134217728 bytes; combine fewer or smaller values"
	stepsExceed     = "comparing lists or maps takes more than the limit of 8388608 steps; compare the parts that matter, or filter lists first"
	exponentExceeds = "exponent of a quantity: 1000000000 exceeds the limit of 1000; quantities are at most 10^19 and at least 10^-9"
	resultExceeds   = "values in the result: "
	costExceeds     = "operation cancelled: actual cost limit exceeded"
)

// TestLimits evaluates expressions that would take gigabytes or years without limits.
func TestLimits(t *testing.T) {
	twice := func(chains ...[][2]string) (all [][2]string) {
		for i, c := range chains {
			for _, v := range c {
				prefix := string(rune('v' + i))
				all = append(all, [2]string{strings.Replace(v[0], "v", prefix, 1), strings.ReplaceAll(v[1], "variables.v", "variables."+prefix)})
			}
		}
		return all
	}
	patches := expression.Declarations{Patches: true}
	for name, test := range map[string]struct {
		variables [][2]string
		in        expression.Declarations
		source    string
		want      string
	}{
		"doubled strings":                   {variables: addedToItself("object.text"), source: "variables.v30 != ''", want: textExceeds},
		"doubled strings with cel-go":       {variables: chain(30, "object.text", "optional.of($).value() + dyn($)"), source: "variables.v30 != ''", want: textExceeds},
		"doubled bytes":                     {variables: addedToItself("bytes(object.text)"), source: "variables.v30 != b''", want: textExceeds},
		"doubled lists":                     {variables: addedToItself("object.numbers"), source: "variables.v30.size() > 0", want: elementsExceed},
		"strings of a comprehension":        {source: "object.numbers.map(n, dyn(object.text) + dyn(object.text)).size() > 0", want: madeExceeds},
		"strings of a comprehension, later": {source: "object.numbers.transformList(i, n, dyn(object.text) + dyn(object.text)).size() > 0", want: madeExceeds},
		"strings of variables":              {variables: chain(50, "object.text", "dyn(object.text) + dyn($ == '' ? '' : 'x')"), source: "variables.v50 != ''", want: madeExceeds},
		"large literals":                    {source: "object.numbers.map(n, [n == null" + strings.Repeat(", true", 5000) + "]).size() > 0", want: madeExceeds},
		"large literals with cel-go": {source: "object.numbers.map(n, [optional.of(n).value() == null" + strings.Repeat(", true", 5000) + "]).size() > 0",
			want: madeExceeds},
		"join":                              {source: "lists.range(10).map(n, object.text).join() != ''", want: textExceeds},
		"join of few":                       {source: "['', '', '', '', '', '', ''].join(object.text) != ''", want: textExceeds},
		"join of the request":               {source: "object.text.split('').join(object.text) != ''", want: textExceeds},
		"replace":                           {source: "object.text.replace('a', object.text) != ''", want: textExceeds},
		"replace nothing":                   {source: "object.text.replace('', object.text) != ''", want: textExceeds},
		"replace a few":                     {source: "object.text.replace('a', object.text, 100) != ''", want: textExceeds},
		"split":                             {variables: chain(2, "object.text", "dyn($) + dyn($)"), source: "variables.v2.split('').size() > 0", want: elementsExceed},
		"format of nested lists":            {variables: nested("1"), source: "'%s'.format([variables.v30]) != ''", want: textExceeds},
		"format of many":                    {source: "'%s%s%s%s%s%s%s%s'.format([object.text, object.text, object.text, object.text, object.text, object.text, object.text, object.text]) != ''", want: textExceeds},
		"format of digits":                  {source: "'%.99999999f%.99999999f'.format([1.0, 1.0]) != ''", want: textExceeds},
		"escaped keys":                      {in: patches, source: "object.numbers.map(n, jsonpatch.escapeKey(object.text)).size() > 0", want: costExceeds},
		"lists of strings":                  {variables: chain(5, "object.text.split('')", "object.text.split('')"), source: readAll(5), want: madeExceeds},
		"costly patterns":                   {source: "object.text.matches('(a|b|c|d)*" + strings.Repeat("x?", 400) + "')", want: costExceeds},
		"costly patterns, found":            {source: "object.text.find('(a|b|c|d)*" + strings.Repeat("x?", 400) + "') == ''", want: costExceeds},
		"ranges":                            {source: "lists.range(1000000000).size() > 0", want: elementsExceed},
		"flattened lists":                   {variables: nested("1"), source: "variables.v30.flatten(30).size() > 0", want: elementsExceed},
		"parts of a string":                 {source: "object.text.indexOf(object.text.substring(1) + 'a') == 0", want: stepsExceed},
		"parts of a string, last":           {source: "object.text.lastIndexOf(object.text.substring(1, 2000000) + 'x') == 0", want: stepsExceed},
		"large quantities":                  {source: "quantity('1e1000000000') == quantity('1')", want: exponentExceeds},
		"large quantities, less":            {source: "quantity(object.huge).isLessThan(quantity('1'))", want: exponentExceeds},
		"large quantities, added":           {source: "quantity('1').add(quantity(object.huge)).isInteger()", want: exponentExceeds},
		"small quantities":                  {source: "quantity(object.tiny).compareTo(quantity('1')) == 0", want: "exponent of a quantity: 999999999 exceeds"},
		"long quantities":                   {source: "quantity(object.digits) == quantity('1')", want: "characters of a quantity: 2000 exceeds the limit of 1000"},
		"declined comparisons":              {variables: failingVariables(5), source: "(variables.w0 || variables.w1 || variables.w2 || true) && variables.w4", want: stepsExceed},
		"equal nested lists":                {variables: twice(nested("1"), nested("1")), source: "variables.v30 == variables.w30", want: stepsExceed},
		"equal to itself":                   {variables: nested("1"), source: "variables.v30 != variables.v30", want: stepsExceed},
		"equal with cel-go":                 {variables: nested("1"), source: "optional.of(variables.v30).value() == variables.v30", want: stepsExceed},
		"equal optionals":                   {variables: nested("1"), source: "optional.of(variables.v30) == optional.of(variables.v30)", want: stepsExceed},
		"equal nested maps":                 {variables: twice(chain(30, "1", "{'a': $, 'b': $}"), chain(30, "1", "{'a': $, 'b': $}")), source: "variables.v30 == variables.w30", want: stepsExceed},
		"equal objects in lists":            {variables: chain(20, "object", "[$, $]"), source: "variables.v20 == variables.v20", want: stepsExceed},
		"equal concatenations":              {variables: chain(30, "[1]", "[$] + [$]"), source: "variables.v30 == variables.v30", want: stepsExceed},
		"in nested lists":                   {variables: nested("1"), source: "variables.v29 in variables.v30", want: stepsExceed},
		"in nested lists, dynamic":          {variables: nested("1"), source: "dyn(variables.v29) in dyn(variables.v30)", want: stepsExceed},
		"in a list of a variable":           {variables: twice(nested("1"), nested("1")), source: "variables.v30 in [variables.w30]", want: stepsExceed},
		"index of nested lists":             {variables: nested("1"), source: "variables.v30.indexOf(variables.v29) == 0", want: stepsExceed},
		"includes nested lists":             {variables: nested("1"), source: "variables.v30.includes(variables.v29)", want: stepsExceed},
		"distinct nested lists":             {variables: nested("1"), source: "variables.v30.distinct().size() == 1", want: stepsExceed},
		"distinct numbers":                  {source: "lists.range(1500).distinct().size() == 1", want: costExceeds},
		"sets of nested lists":              {variables: nested("1"), source: "sets.contains(variables.v30, variables.v30)", want: stepsExceed},
		"equivalent nested lists":           {variables: nested("1"), source: "sets.equivalent(variables.v30, variables.v30)", want: stepsExceed},
		"sets of numbers":                   {source: "sets.intersects(lists.range(1500), lists.range(1500))", want: costExceeds},
		"patches of nested lists":           {in: patches, variables: nested("1"), source: "[JSONPatch{op: 'add', path: '/a', value: variables.v30}]", want: resultExceeds},
		"patches of long strings":           {in: patches, variables: chain(2, "object.text", "dyn($) + dyn($)"), source: "[JSONPatch{op: 'add', path: '/a', value: [variables.v2, variables.v2]}]", want: textExceeds},
		"patches of the object":             {in: patches, variables: chain(12, "object", "[$, $]"), source: "[JSONPatch{op: 'add', path: '/a', value: variables.v12}]", want: textExceeds},
		"objects of nested lists":           {in: patches, variables: nested("1"), source: "Object{spec: Object.spec{a: variables.v30}}", want: resultExceeds},
		"objects in concatenations":         {in: patches, variables: chain(30, "Object.a{b: 1}", "Object.a{c: [$] + [1]}"), source: "Object{a: variables.v30}", want: resultExceeds},
		"objects in mapped lists":           {in: patches, variables: chain(30, "Object.a{b: 1}", "Object.a{c: ([$, $] + [1]).map(e, e)}"), source: "Object{a: variables.v30}", want: resultExceeds},
		"objects in merged maps":            {in: patches, variables: chain(30, "Object.a{b: 1}", "Object.a{c: {'d': [$] + [1]}}"), source: "Object{a: variables.v30}", want: resultExceeds},
		"objects in optional lists":         {in: patches, variables: chain(30, "Object.a{b: 1}", "Object.a{c: optional.of([$] + [1]).value() + [2]}"), source: "Object{a: variables.v30}", want: resultExceeds},
		"objects in optionals":              {in: patches, variables: chain(30, "Object.a{b: 1}", "Object.a{b: optional.of($)}"), source: "Object{a: variables.v30}", want: resultExceeds},
		"objects in concatenated optionals": {in: patches, variables: chain(30, "Object.a{b: 1}", "Object.a{b: [dyn(optional.of($))] + [dyn(1)]}"), source: "Object{a: variables.v30}", want: resultExceeds},
		"objects in optionals of optionals": {in: patches, variables: chain(20, "Object.a{b: 1}", "Object.a{b: optional.of(optional.of($))}"), source: "Object{a: variables.v20}", want: resultExceeds},
		"objects of objects":                {in: patches, variables: chain(30, "Object.a{b: 1}", "Object.a{b: $, c: [$]}"), source: "Object{a: variables.v30}", want: resultExceeds},
	} {
		t.Run(name, func(t *testing.T) {
			value, allocated, err := measured(func() (ref.Val, error) { return evaluate(t, t.Context(), test.variables, test.in, test.source) })
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v and the error %.1000v, want %q", value, err, test.want)
			}
			if expression.IsFatal(err) {
				t.Errorf("an expression's own error is fatal: %v", err)
			}
			// cel-go evaluates expressions that end in an error again, so they count twice. Garbage
			// doubles the memory again.
			if limit := uint64(4 * limits.MaxAllocated); allocated > limit {
				t.Errorf("takes %d bytes, want at most %d", allocated, limit)
			}
		})
	}
}

// readAll reads all variables of a chain.
func readAll(n int) string {
	var reads []string
	for i := range n + 1 {
		reads = append(reads, fmt.Sprintf("variables.v%d.size() > 0", i))
	}
	return strings.Join(reads, " && ")
}

// measured returns the bytes that a call allocates.
func measured(call func() (ref.Val, error)) (ref.Val, uint64, error) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	value, err := call()
	runtime.ReadMemStats(&after)
	return value, after.TotalAlloc - before.TotalAlloc, err
}

// TestWithinLimits evaluates expressions of plausible policies, with results just within the
// limits.
func TestWithinLimits(t *testing.T) {
	for name, test := range map[string]struct {
		variables [][2]string
		source    string
	}{
		"the largest string":              {chain(2, "object.text", "dyn($) + dyn($)"), "variables.v2.size() == 12 << 20"},
		"five copies of the object":       {nil, "dyn(object.text) + dyn(object.text) + dyn(object.text) + dyn(object.text) + dyn(object.text) != ''"},
		"many short strings":              {nil, "object.numbers.filter(n, n == null).size() == 20000"},
		"a large list":                    {chain(7, "object.numbers", "$ + $"), "variables.v7.size() == 2560000"},
		"nested lists":                    {chain(15, "1", "[$, $]"), "variables.v15 == variables.v15"},
		"nested lists of different sizes": {nested("1"), "dyn(variables.v30) != dyn([variables.v30])"},
		"nested lists and others":         {nested("1"), "dyn(variables.v30) != dyn([1, 2]) && !(variables.v30 in object.numbers)"},
		"the object":                      {nil, "object == object && [object] == [object] && object in [object, object]"},
		"labels":                          {nil, "{'a': 'b', 'c': 'd'} == {'c': 'd', 'a': 'b'}"},
		"numbers in a large list":         {nil, "!(1 in object.numbers) && object.numbers.indexOf(1) == -1"},
		"joined and replaced":             {nil, "object.name.replace('abcd', 'abcdefgh').split('efgh').join('') == object.name && object.text.replace('a', 'bc').size() == object.text.size() / 4 * 5"},
		"formatted":                       {nil, "'%s and %s: %.3f'.format([object.text, ['a', 1], 1.0]).startsWith('abcd')"},
		"quantities":                      {nil, "quantity('1e18').isLessThan(quantity('1e19')) && quantity('9E').isGreaterThan(quantity('1e-9')) && isQuantity('12e6') && !isQuantity('1e') && isQuantity('e5')"},
		"texts that are no quantities":    {nil, "!isQuantity('release2024') && !isQuantity('node5000') && !isQuantity('z1e5000') && !isQuantity(object.tinier) && !isQuantity(object.text)"},
		"items of the object":             {nil, "object.items.distinct().size() == 500 && sets.contains(object.items, object.items)"},
		"quantities at the limit":         {nil, "quantity('1e1000').isGreaterThan(quantity('1e-1000'))"},
		"patterns":                        {nil, "object.text.matches('^abc') && object.text.find('bcd') == 'bcd' && object.name.findAll('abcd', 2) == ['abcd', 'abcd'] && object.name.matches('^[a-d]+$')"},
		"ordered":                         {nil, "lists.range(300).map(n, 300 - n).sort()[0] == 1 && lists.range(500).distinct().size() == 500 && lists.range(1000).isSorted() && lists.range(1000).sum() == 499500"},
		"long parts of a string":          {nil, "object.text.indexOf('begin' + object.text.substring(0, 20000)) == -1"},
		"sets":                            {nil, "sets.contains(lists.range(900), lists.range(900)) && sets.equivalent([[1], [2]], [[2], [1]])"},
	} {
		t.Run(name, func(t *testing.T) {
			if strings.Contains(test.source, "<<") {
				test.source = strings.ReplaceAll(test.source, "12 << 20", fmt.Sprint(12<<20))
			}
			if value, err := evaluate(t, t.Context(), test.variables, nothing, test.source); err != nil || value != types.True {
				t.Errorf("got %v, %v", value, err)
			}
		})
	}
}

// A cancelling activation cancels the context when the object is first read.
type cancelling struct {
	interpreter.Activation
	cancel func()
}

// ResolveName implements interpreter.Activation.
func (c cancelling) ResolveName(name string) (any, bool) {
	c.cancel()
	return c.Activation.ResolveName(name)
}

// TestCancelledWhileRunning cancels the context during expressions of every kind.
func TestCancelledWhileRunning(t *testing.T) {
	for _, source := range []string{
		"object.numbers.all(n, n == null)", "object.numbers.transformList(i, n, i).size() > 0", "[[object.text], [object.text]] == [[object.text], [object.text]]",
		"dyn(object.text) + dyn(object.text) == ''", "dyn(object.text) + optional.of(dyn(object.text)).value() == ''", "object.text.upperAscii() == ''", "'%s'.format([object.text]) == ''", "[object.text].join() == ''",
		"1 in object.numbers", "object.numbers.indexOf(1) == 0", "sets.contains(object.numbers, [1, 2])", "object.numbers.slice(0, 20000).size() > 0", "object.numbers.sort().size() > 0",
		"object.text.indexOf(object.text.substring(0, 100)) > 0", "object.text.findAll('a').size() > 0",
	} {
		t.Run(source, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			series := expression.NewSeries(ctx, cancelling{largeObject(t), cancel}, nil, expression.NewBudget(plenty))
			if value, err := compile(t, source).Evaluate(series); err == nil || !strings.Contains(err.Error(), "operation interrupted: context canceled") {
				t.Errorf("got %v, %v", value, err)
			}
		})
	}
}

// TestCancelledVariables cancels the context while many cheap variables are evaluated.
func TestCancelledVariables(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	value, err := evaluate(t, ctx, chain(200, "1", "$ + 1"), nothing, "variables.v200 == 201")
	if err == nil || !strings.HasSuffix(err.Error(), "operation interrupted: context canceled") {
		t.Errorf("got %v, %v", value, err)
	}
	if value, err := evaluate(t, ctx, chain(10, "1", "$ + 1"), nothing, "variables.v10 == 11"); err != nil || value != types.True {
		t.Errorf("got %v, %v where there is little to end", value, err)
	}
}

// TestCompileWithinLimits compiles expressions of constants that take too long to evaluate.
func TestCompileWithinLimits(t *testing.T) {
	long := "'" + strings.Repeat("a", 30_000) + "'"
	for _, source := range []string{
		"quantity('1e1000000000') == quantity('1')", "quantity('1E-999999999').compareTo(quantity('1')) == 0", "isQuantity('1E-999999999')",
		"lists.range(1000000000) == []", "'%.999999999f'.format([1.0]) == ''", "string(" + long + ") in [" + long + "]", "bytes(" + long + ") == b''",
		"[[1, 2], [3]] in [[[1, 2], [3]]]",
	} {
		_, allocated, err := measured(func() (ref.Val, error) {
			_, err := expression.Default().Compile(source, nothing, fresh, cel.AnyType)
			if err != nil {
				return nil, err
			}
			return nil, nil
		})
		if err != nil {
			t.Errorf("%.100s: %v", source, err)
		}
		if limit := uint64(limits.MaxAllocated); allocated > limit {
			t.Errorf("compiling %.100s takes %d bytes, want at most %d", source, allocated, limit)
		}
	}
}
