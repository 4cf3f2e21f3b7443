// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package defaulting_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/validation/field"

	v1 "celador.io/api/apiextensions/v1"
	"celador.io/apiextensions-apiserver/pkg/apis/apiextensions"
	"celador.io/apiextensions-apiserver/pkg/customresource/defaulting"
)

// The rules of a schema share what compiling them takes, so that many rules in a large schema do
// not take minutes.
func TestRulesShareEnvironments(t *testing.T) {
	const few, many = 5, 55
	var properties strings.Builder
	for i := range 300 {
		fmt.Fprintf(&properties, "  object%d: {type: object, properties: {field%d: {type: object, properties: {a: {type: string}}}}}\n", i, i)
	}
	for i := range many {
		fmt.Fprintf(&properties, "  text%d: {type: string}\n", i)
	}
	structural, _ := parse(t, "type: object\nproperties:\n"+properties.String())
	allocated := func(rules int) uint64 {
		var all []v1.DefaultRule
		for i := range rules {
			all = append(all, v1.DefaultRule{Field: fmt.Sprintf("text%d", i), Rule: fmt.Sprintf("self.?object%d.?field%d.?a.orValue('x%d')", i, i, i)})
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if errs, _ := defaulting.Validate(structural, apiextensions.SchemaDefaults{"": all}, nil, false, field.NewPath("schema")); len(errs) > 0 {
			t.Fatal(errs)
		}
		runtime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc
	}
	allocated(1) // what is made once for the process
	const limit = 256 << 10
	if each := (allocated(many) - allocated(few)) / (many - few); each > limit {
		t.Errorf("each rule allocates %d bytes, want at most %d", each, limit)
	}
}
