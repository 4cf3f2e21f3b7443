// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package schemaexpression_test

import (
	"testing"

	apiservercel "k8s.io/apiserver/pkg/cel"
	"k8s.io/apiserver/pkg/cel/environment"

	"celador.io/admission/schemaexpression"
)

// The texts of scalars have a bounded length, so concatenating them is cheap.
func TestMaxCostOfTexts(t *testing.T) {
	self := apiservercel.NewObjectType("Self", map[string]*apiservercel.DeclField{
		"seconds": apiservercel.NewDeclField("seconds", apiservercel.IntType, true, nil, nil),
		"ratio":   apiservercel.NewDeclField("ratio", apiservercel.DoubleType, true, nil, nil),
		"on":      apiservercel.NewDeclField("on", apiservercel.BoolType, true, nil, nil),
		"wait":    apiservercel.NewDeclField("wait", apiservercel.DurationType, true, nil, nil),
		"since":   apiservercel.NewDeclField("since", apiservercel.TimestampType, true, nil, nil),
	})
	env, err := schemaexpression.Default().Environment(schemaexpression.Scope{Self: self}, environment.StoredExpressions)
	if err != nil {
		t.Fatal(err)
	}
	const limit = 10
	for _, field := range []string{"seconds", "ratio", "on", "wait", "since"} {
		source := "string(self." + field + ") + 's'"
		expression, compileErr := env.Compile(source)
		if compileErr != nil {
			t.Errorf("%s: %v", source, compileErr)
			continue
		}
		cost, err := expression.MaxCost()
		if err != nil || cost > limit {
			t.Errorf("%s: got cost %d, %v, want at most %d", source, cost, err, limit)
		}
	}
}
