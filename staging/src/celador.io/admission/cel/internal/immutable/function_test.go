// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package immutable_test

import (
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/functions"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
	"github.com/google/cel-go/ext"
	"k8s.io/apiserver/pkg/cel/environment"
	"k8s.io/apiserver/pkg/cel/library"
	"k8s.io/apiserver/pkg/cel/openapi"
	"k8s.io/kube-openapi/pkg/validation/spec"

	"celador.io/admission/cel/internal/evaluator"
	"celador.io/admission/cel/internal/fingerprint"
	"celador.io/admission/cel/internal/immutable"
	"celador.io/admission/cel/values"
)

var env = sync.OnceValue(func() *cel.Env {
	extended, err := environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion()).StoredExpressionsEnv().Extend(library.JSONPatch(), ext.Bindings(), ext.Math(), ext.Regex(), ext.Encoders(ext.EncodersVersion(0)),
		cel.Variable("text", cel.StringType), cel.Variable("list", cel.ListType(cel.DynType)), cel.Variable("map", cel.MapType(cel.StringType, cel.DynType)))
	if err != nil {
		panic(err)
	}
	return extended
})

// produce evaluates an expression with cel-go alone.
func produce(t *testing.T, source string) ref.Val {
	t.Helper()
	checked, issues := env().Compile(source)
	if issues.Err() != nil {
		t.Fatal(issues.Err())
	}
	program, err := env().Program(checked)
	if err != nil {
		t.Fatal(err)
	}
	value, _, err := program.Eval(map[string]any{"text": "some text", "list": []any{int64(1), "a"}, "map": map[string]any{"a": int64(1)}})
	if err != nil {
		t.Fatalf("%s: %v", source, err)
	}
	return value
}

// producers holds expressions of every type, for each way in which cel-go and Kubernetes make
// values of the type.
var producers = []string{
	"null", "true", "1", "-1", "2u", "1.5", "'a'", "text", "text + 'b'", "'[a-z]'", "'10.0.0.1'", "'dns1123Label'", "int", "type(text)",
	"b'ab'", "bytes(text)", "bytes('ab')", "bytes(text) + b'c'", "b'' + bytes(text)", "dyn(bytes(text))",
	"duration('1s')", "timestamp(0)", "timestamp('2026-01-02T03:04:05Z') + duration('1h')",
	"[]", "[1, 2]", "[text]", "list", "list + [1]", "[1] + list + ['b']", "list.map(x, [x])", "list.filter(x, true)", "[[1], [2]]", "lists.range(3)", "[3, 1].sort()", "[bytes(text)]", "text.split(' ')",
	"list.transformList(i, v, [i])", "optional.of([]).optMap(l, [l]).value()", "optional.of([]).optMap(l, [l]).value()[0]", "[bytes(text), b'x']", "[quantity('1')]",
	"{}", "{'a': text}", "map", "map.transformMap(k, v, [v])", "{'a': bytes(text)}", "optional.of({}).optMap(m, [m]).value()[0]", "{'q': quantity('1')}",
	"optional.of(text)", "optional.none()", "optional.of(bytes(text))", "optional.of([])", "optional.of(quantity('1'))", "list[?0]",
	"quantity('1')", "quantity('1Gi')", "quantity('1.5')", "quantity('123456789012345678901234567890')", "quantity('1').add(1)", "quantity('1').sub(quantity('123456789012345678901234567890'))",
	"quantity('0.000000001')", "dyn(quantity('5'))",
	"url('https://a.example.com:80/p?q=r')", "ip('10.0.0.1')", "cidr('10.0.0.0/8')", "semver('1.2.3')", "semver('1.2.3-rc.1+b')", "format.dns1123Label()", "format.named('uuid')",
}

// views returns views of objects of every kind that package values has.
func views() map[string]ref.Val {
	type part struct {
		Name  string            `json:"name"`
		Data  []byte            `json:"data"`
		List  []string          `json:"list"`
		Map   map[string]string `json:"map"`
		Parts []part            `json:"parts"`
		Any   any               `json:"any"`
	}
	object := part{"b", []byte("ab"), []string{"b", "a"}, map[string]string{"a": "1"}, []part{{Name: "c"}, {Name: "a"}}, []any{"b", "a"}}
	schema := values.NewSchema(&openapi.Schema{Schema: &spec.Schema{SchemaProps: spec.SchemaProps{
		Type: []string{"object"}, Properties: map[string]spec.Schema{
			"bytes": {SchemaProps: spec.SchemaProps{Type: []string{"string"}, Format: "byte"}},
			"list":  {SchemaProps: spec.SchemaProps{Type: []string{"array"}, Items: &spec.SchemaOrArray{Schema: &spec.Schema{SchemaProps: spec.SchemaProps{Type: []string{"string"}, Format: "byte"}}}}},
			"set": {VendorExtensible: spec.VendorExtensible{Extensions: spec.Extensions{"x-kubernetes-list-type": "set"}},
				SchemaProps: spec.SchemaProps{Type: []string{"array"}, Items: &spec.SchemaOrArray{Schema: spec.StringProperty()}}},
		},
	}}})
	described := schema.Value(map[string]any{"bytes": "YWJjZGU=", "list": []any{"YWJjZGU="}, "set": []any{"b", "a"}}).(traits.Mapper)
	return map[string]ref.Val{
		"view of a struct": values.Of(object), "view of a list": values.Of(object.List), "view of structs": values.Of(object.Parts), "view of a map": values.Of(object.Map), "view of an interface": values.Of(object.Any),
		"unstructured view of a struct": values.OfUnstructured(object), "unstructured view of a list": values.OfUnstructured(object.List),
		"described object": described, "described bytes": described.Get(types.String("bytes")), "described list": described.Get(types.String("list")), "described set": described.Get(types.String("set")),
		"described bytes in a list": described.Get(types.String("list")).(traits.Lister).Get(types.IntZero),
	}
}

// implementations returns all overloads of all functions, and the functions that select the
// overload.
func implementations(t *testing.T) map[string]*functions.Overload {
	t.Helper()
	all := map[string]*functions.Overload{}
	for name, declaration := range env().Functions() {
		if name == "cel.@mapInsert" {
			continue // the steps of transformMap() and transformMapEntry() alone call it, with their accumulator
		}
		bindings, err := declaration.Bindings()
		if err != nil {
			t.Fatal(err)
		}
		for _, overload := range bindings {
			all[overload.Operator] = immutable.Function(name, overload)
		}
	}
	return all
}

// call calls an implementation as cel-go does. It returns nil if the implementation takes another
// number of arguments, or panics.
func call(implementation *functions.Overload, args ...ref.Val) (result ref.Val) {
	defer func() {
		if recover() != nil {
			result = nil
		}
	}()
	if implementation.OperandTrait != 0 && !args[0].Type().HasTrait(implementation.OperandTrait) {
		return nil
	}
	switch {
	case len(args) == 1 && implementation.Unary != nil:
		return implementation.Unary(args[0])
	case len(args) == 2 && implementation.Binary != nil:
		return implementation.Binary(args[0], args[1])
	case implementation.Function != nil:
		return implementation.Function(args...)
	default:
		return nil
	}
}

// No function changes an argument: neither what it refers to nor the spare capacity of its slices.
// Results refer to memory of arguments, so the test calls functions with results, too.
func TestFunctionsChangeNoArgument(t *testing.T) {
	all := implementations(t)
	operands := views()
	for _, source := range producers {
		operands[source] = produce(t, source)
	}
	names := slices.Sorted(maps.Keys(operands))
	prints := map[string]uint64{}
	for source, v := range operands {
		prints[source] = fingerprint.Of(v)
	}
	changed := func(function string, args ...string) {
		for _, source := range args {
			if fingerprint.Of(operands[source]) != prints[source] {
				t.Errorf("%s with %q changes %s", function, args, source)
				prints[source] = fingerprint.Of(operands[source])
			}
		}
	}
	values := map[string]int{}
	count := func(function string, result ref.Val) {
		if result != nil && !types.IsUnknownOrError(result) {
			values[function]++
		}
	}
	for function, implementation := range all {
		for _, first := range names {
			if implementation.Unary != nil || implementation.Function != nil {
				count(function, call(implementation, operands[first]))
				changed(function, first)
			}
			if implementation.Binary == nil && implementation.Function == nil {
				continue
			}
			for _, second := range names {
				count(function, call(implementation, operands[first], operands[second]))
				changed(function, first, second)
			}
		}
	}
	for _, function := range []string{"_+_", "isGreaterThan", "quantity_compare_to", "sets.equivalent", "distinct"} {
		if values[function] == 0 {
			t.Errorf("%s never has a value", function)
		}
	}
	t.Logf("%d implementations, %d of them had values", len(all), len(values))
}

// Functions that change their arguments in cel-go or in Kubernetes' libraries do not here, whatever
// was done with the values before.
func TestSums(t *testing.T) {
	for _, source := range []string{"bytes(text)", "b'' + bytes(text)", "optional.of([]).optMap(l, [l]).value()[0]", "bytes(text) + b'c'"} {
		base := produce(t, source)
		implementation := implementations(t)["_+_"]
		var one, other ref.Val
		if base.Type() == types.ListType {
			one, other = produce(t, "[1]"), produce(t, "[2]")
		} else {
			one, other = types.Bytes("1"), types.Bytes("2")
		}
		first := call(implementation, base, one)
		before := fmt.Sprint(first)
		second := call(implementation, base, other)
		if after := fmt.Sprint(first); after != before || first.Equal(second) == types.True {
			t.Errorf("%s: %s became %s after another sum, %v", source, before, after, second)
		}
	}
}

// The library and the decorator use the implementations that this package replaces.
func TestLibrary(t *testing.T) {
	library, err := evaluator.NewLibrary(env())
	if err != nil {
		t.Fatal(err)
	}
	q := produce(t, "quantity('1')")
	for _, function := range []string{"isLessThan", "quantity_is_less_than", "compareTo"} {
		call(library.Find(function, function), q, produce(t, "quantity('123456789012345678901234567890')"))
		if isInteger := call(library.Find("isInteger", ""), q); isInteger != types.True {
			t.Errorf("after %s, isInteger() of 1 is %v", function, isInteger)
		}
	}
	if b := produce(t, "bytes(text)").(types.Bytes); cap(b) == len(b) {
		t.Error("bytes() has no spare capacity, so the tests cannot fail")
	}
}

func TestKeep(t *testing.T) {
	refused := []string{"optional.of([]).optMap(l, [l]).value()", "optional.of([]).optMap(l, [l]).value()[0]", "optional.of({}).optMap(m, [m]).value()[0]"}
	for _, source := range producers {
		if got, want := immutable.Keep(produce(t, source)), !slices.Contains(refused, source); got != want {
			t.Errorf("Keep(%s) = %t, want %t", source, got, want)
		}
	}
	for _, source := range []string{"lists.range(300)", "[lists.range(200), lists.range(200)]"} {
		if immutable.Keep(produce(t, source)) {
			t.Errorf("Keep(%s) = true", source)
		}
	}
	if immutable.Keep(types.NewErr("an error")) || immutable.Keep(types.NewUnknown(1, nil)) {
		t.Error("Keep returns true for an error or an unknown")
	}
}
