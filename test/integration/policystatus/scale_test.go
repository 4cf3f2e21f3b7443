// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package policystatus

import (
	"fmt"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"celador.io/celador/test/integration/testserver"
)

// Many policies on one custom resource get a new status after each change of the resource, with a
// single write each.
func TestManyPolicies(t *testing.T) {
	group := testserver.UniqueName("many") + ".example.com"
	counted := countWrites(t)
	define(t, widgets(t, group, "v1", "{size: {type: integer}}"))
	var names []string
	for i := range 500 {
		names = append(names, write(t, matching(group, "v1", "widgets")+fmt.Sprintf(`validations: [{expression: object.spec.size < %d}]`, i)).Name)
	}
	for _, name := range names {
		expect(t, name, fits)
	}
	edit(t, group, func(d *apiextensionsv1.CustomResourceDefinition) {
		d.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"].Properties["size"] = apiextensionsv1.JSONSchemaProps{Type: "string"}
	})
	for _, name := range names {
		expect(t, name, doesNotFit)
	}
	undefine(t, group)
	for _, name := range names {
		expect(t, name, isMissing)
	}
	counted.settle(t)
	for _, name := range names {
		// The writes of the definition: creation, status, change, start and end of the deletion.
		if got := counted.of(name); got > 5 {
			t.Errorf("%s: %d writes, want at most 5", name, got)
		}
	}
}

// Type checking handles a schema of 10,000 properties, and a deeply nested one.
func TestLargeSchemas(t *testing.T) {
	var wide strings.Builder
	for i := range 10_000 {
		fmt.Fprintf(&wide, "p%d: {type: integer}, ", i)
	}
	deep := "{type: integer}"
	for range 100 {
		deep = "{type: object, properties: {next: " + deep + "}}"
	}
	for name, tc := range map[string]struct{ properties, right, wrong string }{
		"wide": {"{" + wide.String() + "}", "object.spec.p9999 < 5", "object.spec.p10000 < 5"},
		"deep": {"{next: " + deep + "}", "object.spec" + strings.Repeat(".next", 101) + " < 5", "object.spec" + strings.Repeat(".next", 50) + ".last < 5"},
	} {
		t.Run(name, func(t *testing.T) {
			group := testserver.UniqueName(name) + ".example.com"
			define(t, widgets(t, group, "v1", tc.properties))
			for range 10 {
				right := write(t, matching(group, "v1", "widgets")+`validations: [{expression: `+tc.right+`}]`)
				wrong := write(t, matching(group, "v1", "widgets")+`validations: [{expression: `+tc.wrong+`}]`)
				expect(t, right.Name, fits)
				expect(t, wrong.Name, doesNotFit)
			}
		})
	}
}
