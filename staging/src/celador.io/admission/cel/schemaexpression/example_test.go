// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package schemaexpression_test

import (
	"context"
	"fmt"

	"k8s.io/apiserver/pkg/cel/common"
	"k8s.io/apiserver/pkg/cel/environment"
	"k8s.io/apiserver/pkg/cel/openapi"
	"k8s.io/kube-openapi/pkg/validation/spec"

	"celador.io/admission/cel/schemaexpression"
)

func Example() {
	integer := *spec.Int64Property()
	schema := &openapi.Schema{Schema: &spec.Schema{SchemaProps: spec.SchemaProps{
		Type:       spec.StringOrArray{"object"},
		Properties: map[string]spec.Schema{"replicas": integer, "minReplicas": integer},
	}}}

	env, err := schemaexpression.Default().Environment(schemaexpression.Scope{
		Self:    common.SchemaDeclType(schema, false).MaybeAssignTypeName("selfType"),
		OldSelf: schemaexpression.PlainOldSelf,
	}, environment.NewExpressions)
	if err != nil {
		panic(err)
	}
	rule, invalid := env.Compile("self.replicas >= self.minReplicas")
	if invalid != nil {
		panic(invalid)
	}
	cost, err := rule.MaxCost(schemaexpression.ObjectSize{Entries: 100, Text: 10_000})
	if err != nil {
		panic(err)
	}
	program, err := rule.Program()
	if err != nil {
		panic(err)
	}
	fmt.Println("returns", rule.OutputType(), "for at most", cost, "units, reads oldSelf:", rule.ReadsOldSelf())

	values := schemaexpression.NewSchema(schema)
	for _, self := range []any{
		map[string]any{"replicas": int64(3), "minReplicas": int64(1)},
		map[string]any{"replicas": int64(3)},
	} {
		e := program.Evaluate(context.Background(), &schemaexpression.Activation{Self: schemaexpression.Value(self, values)})
		fmt.Println(e.Value, e.Err, e.Cost)
	}

	// Output:
	// returns bool for at most 7 units, reads oldSelf: false
	// true <nil> 5
	// <nil> no such key: minReplicas 5
}
