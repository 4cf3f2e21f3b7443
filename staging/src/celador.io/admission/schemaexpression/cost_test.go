// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package schemaexpression_test

import (
	"testing"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
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

// Kubernetes does not know the sizes of values behind optionals, so that rules that handle missing fields exceed all
// limits.
func TestMaxCostByOrigin(t *testing.T) {
	text := apiservercel.NewSimpleTypeWithMinSize("string", cel.StringType, types.String(""), 2)
	text.MaxElements = 100
	self := apiservercel.NewObjectType("object", map[string]*apiservercel.DeclField{
		"name":  apiservercel.NewDeclField("name", text, false, nil, nil),
		"names": apiservercel.NewDeclField("names", apiservercel.NewListType(text, 10), false, nil, nil),
		"texts": apiservercel.NewDeclField("texts", apiservercel.NewMapType(apiservercel.StringType, text, 10), false, nil, nil),
	}).MaybeAssignTypeName("object(v1)")
	tests := []struct {
		expression string
		// limit is a bound of the estimated cost.
		limit uint64
	}{
		{"self.?name.optMap(n, n.upperAscii())", 100},
		{"self.?name.orValue('').upperAscii()", 100},
		{"self.?names.orValue([]).map(n, n.upperAscii())", 500},
		{"self.texts[?'a'].optMap(n, n.split(',')).orValue([])", 100},
		{"self.names.slice(1, 2).map(n, n.upperAscii())", 500},
		{"self.names.slice(1, 2).join(',')", 50_000},
		{"['a', 'b'].map(a, self.names.map(b, a.upperAscii() + b))", 2000},
		{"self.name.split(',').map(n, n.upperAscii())", 5000},
		{"self.names.map(n, n.split(',').map(p, p.trim()))", 50_000},
		{"dyn(self.names).map(n, n)", 1_000_000},
	}
	for _, test := range tests {
		t.Run(test.expression, func(t *testing.T) {
			for dynamic, within := range map[uint64]bool{0: false, 200_000: true} {
				env, err := schemaexpression.Default().Environment(schemaexpression.Scope{Self: self, MaxDynamicSize: dynamic}, environment.NewExpressions)
				if err != nil {
					t.Fatal(err)
				}
				x, celErr := env.Compile(test.expression)
				if celErr != nil {
					t.Fatal(celErr)
				}
				cost, err := x.MaxCost()
				if err != nil {
					t.Fatal(err)
				}
				if within && cost > test.limit {
					t.Errorf("the estimate with a size is %d, above %d", cost, test.limit)
				}
			}
		})
	}
}

// Rules for x-kubernetes-int-or-string compare types.
func TestMaxCostOfTypes(t *testing.T) {
	self := apiservercel.NewObjectType("object", map[string]*apiservercel.DeclField{
		"size": apiservercel.NewDeclField("size", apiservercel.DynType, false, nil, nil),
	}).MaybeAssignTypeName("object(v1)")
	for _, dynamic := range []uint64{0, 200_000} {
		env, err := schemaexpression.Default().Environment(schemaexpression.Scope{Self: self, MaxDynamicSize: dynamic}, environment.NewExpressions)
		if err != nil {
			t.Fatal(err)
		}
		expression, celErr := env.Compile("type(self.size) == string")
		if celErr != nil {
			t.Fatal(celErr)
		}
		const limit = 10
		if cost, err := expression.MaxCost(); err != nil || cost > limit {
			t.Errorf("MaxDynamicSize %d: got cost %d, %v, want at most %d", dynamic, cost, err, limit)
		}
	}
}
