// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package expression_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/interpreter"
	"k8s.io/apiserver/pkg/cel/environment"

	"celador.io/admission/cel/expression"
)

// Expressions that read a field of null params say so, and no other expressions do.
func TestNullParams(t *testing.T) {
	const null = "params is null: the binding has no paramRef"
	in := expression.Declarations{Params: true}
	values := map[string]any{"object": types.DefaultTypeAdapter.NativeToValue(map[string]any{"a": "b", "replicas": 3, "names": []string{"x"}})}
	for source, want := range map[string]string{
		"object.replicas <= int(params.data.max)":                             null,
		"params.data == 'a'":                                                  null,
		"params.data.a.b[0].c == 1":                                           null,
		"params['data'] == 'a'":                                               null,
		"params['data']['max'] == 'a'":                                        null,
		"params.data['max'] == 'a'":                                           null,
		"params.data[object.a] == 'a'":                                        null,
		"has(params.data.max)":                                                null,
		"params.data.?max.orValue('5') == '5'":                                null,
		"params.data[?'max'].orValue('5') == '5'":                             null,
		"object.names.all(n, n in params.data.names)":                         null,
		"object.names.exists(n, n == params.data.name)":                       null,
		"params.data.names.all(n, n != '')":                                   null,
		"(object.a == 'b' ? params.data : {'m': 'n'}) == 1":                   null,
		"(object.a == 'b' ? params.data : object.data) == 1":                  "no such key: data",
		"(object.a == 'b' ? object.b : params.data).max == 1":                 "no such key: b",
		"object.replicas <= (object.a == 'b' ? params.data : {'m': 'n'}).max": null,
		"params.`max-size` == 1":                                              null,
		"'m' in params.data":                                                  null,
		"variables.limit == 1":                                                `composited variable "limit" fails to evaluate: ` + null,
		"object.data == 1":                                                    "no such key: data",
		"params == null && object.data == 1":                                  "no such key: data",
		"params.?data.hasValue() || object.data == 1":                         "no such key: data",
		"params == null":                                                      "",
		"params == null || params.data.max == '1'":                            "",
		"params.?data.?max.orValue('5') == '5'":                               "",
	} {
		for _, params := range map[string]any{"nil": nil, "null": types.NullValue} {
			values["params"] = params
			activation, err := interpreter.NewActivation(values)
			if err != nil {
				t.Fatal(err)
			}
			composition := expression.Default().Compose()
			limit, compileErr := composition.Declare("limit", "int(params.data.max)", in, environment.StoredExpressions)
			if compileErr != nil {
				t.Fatal(compileErr)
			}
			program, compileErr := composition.Compile(source, in, environment.StoredExpressions, cel.AnyType)
			if compileErr != nil {
				t.Fatalf("%s: %v", source, compileErr)
			}
			variables := []expression.Variable{{Name: "limit", Program: limit}}
			expression.Link(variables)
			_, err = program.Evaluate(expression.NewSeries(t.Context(), activation, variables, expression.NewBudget(plenty)))
			got := ""
			if err != nil {
				got = err.Error()
			}
			if want == "" && err != nil || !strings.HasSuffix(got, want) {
				t.Errorf("%s: got error %q, want %q", source, got, want)
			}
			if strings.HasSuffix(got, null) && !strings.Contains(source, "variables") {
				if cause := errors.Unwrap(errors.Unwrap(err)); cause == nil || !strings.HasPrefix(cause.Error(), "no such key: ") {
					t.Errorf("%s: the cause of %v is %v", source, err, cause)
				}
			}
		}
	}
	values["params"] = types.DefaultTypeAdapter.NativeToValue(map[string]any{"kind": "ConfigMap"})
	activation, err := interpreter.NewActivation(values)
	if err != nil {
		t.Fatal(err)
	}
	program, compileErr := expression.Default().Compile("params.data.max == '5'", in, environment.StoredExpressions, cel.AnyType)
	if compileErr != nil {
		t.Fatal(compileErr)
	}
	if _, err := program.Evaluate(expression.NewSeries(t.Context(), activation, nil, expression.NewBudget(plenty))); err == nil || !strings.HasSuffix(err.Error(), ": no such key: data") {
		t.Errorf("a param without data: %v", err)
	}
}
