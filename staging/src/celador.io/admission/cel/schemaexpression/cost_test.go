// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package schemaexpression_test

import (
	"testing"

	apiservercel "k8s.io/apiserver/pkg/cel"
	"k8s.io/apiserver/pkg/cel/environment"

	"celador.io/admission/cel/schemaexpression"
)

// The limits of the schema and of the object bound the cost, whichever is lower.
func TestMaxCost(t *testing.T) {
	text := *apiservercel.StringType
	text.MaxElements = 100
	self := apiservercel.NewObjectType("object", map[string]*apiservercel.DeclField{
		"name":    apiservercel.NewDeclField("name", &text, false, nil, nil),
		"names":   apiservercel.NewDeclField("names", apiservercel.NewListType(&text, 10), false, nil, nil),
		"texts":   apiservercel.NewDeclField("texts", apiservercel.NewMapType(apiservercel.StringType, &text, 10), false, nil, nil),
		"seconds": apiservercel.NewDeclField("seconds", apiservercel.IntType, true, nil, nil),
		"wait":    apiservercel.NewDeclField("wait", apiservercel.DurationType, true, nil, nil),
		"port":    apiservercel.NewDeclField("port", apiservercel.DynType, false, nil, nil),
	}).MaybeAssignTypeName("object(v1)")
	env, err := schemaexpression.Default().Environment(schemaexpression.Scope{Self: self}, environment.NewExpressions)
	if err != nil {
		t.Fatal(err)
	}
	for expression, limit := range map[string]float64{
		"self.?name.optMap(n, n.upperAscii())":                         100,
		"self.?name.orValue('').upperAscii()":                          100,
		"self.?names.orValue([]).map(n, n.upperAscii())":               500,
		"self.texts[?'a'].optMap(n, n.split(',')).orValue([])":         300,
		"self.names.slice(1, 2).map(n, n.upperAscii())":                500,
		"self.names.slice(1, 2).join(',')":                             500,
		"['a', 'b'].map(a, self.names.map(b, a.upperAscii() + b))":     2000,
		"self.names.map(n, n.split(',').map(p, p.trim()))":             50_000,
		"self.names.filter(n, n != '').filter(n, n != 'a').map(n, n)":  1000,
		"dyn(self.names).map(n, n)":                                    1000,
		"self.?name == optional.of('a') && self.?names == self.?names": 100,
		"string(self.seconds) + 's'":                                   20,
		"string(self.wait) + 's'":                                      20,
		"type(self.port) == string":                                    10,
	} {
		x, celErr := env.Compile(expression)
		if celErr != nil {
			t.Errorf("%s: %v", expression, celErr)
			continue
		}
		if cost, err := x.MaxCost(schemaexpression.ObjectSize{Entries: 1e5, Text: 1e6}); err != nil || cost > limit {
			t.Errorf("%s: got cost %v, %v, want at most %v", expression, cost, err, limit)
		}
		if cost, err := x.MaxCost(schemaexpression.ObjectSize{Entries: 2, Text: 10}); err != nil || cost > limit/2 && limit > 200 {
			t.Errorf("%s: got cost %v, %v for a small object", expression, cost, err)
		}
	}
}
