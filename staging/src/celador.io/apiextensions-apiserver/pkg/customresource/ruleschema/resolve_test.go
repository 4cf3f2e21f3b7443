// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package ruleschema_test

import (
	"strings"
	"testing"

	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"

	"celador.io/admission/cel/rulepath"

	"celador.io/apiextensions-apiserver/pkg/customresource/ruleschema"
)

func object(properties map[string]structuralschema.Structural) structuralschema.Structural {
	return structuralschema.Structural{Generic: structuralschema.Generic{Type: "object"}, Properties: properties}
}

func scalar(name string) structuralschema.Structural {
	return structuralschema.Structural{Generic: structuralschema.Generic{Type: name}}
}

func list(items structuralschema.Structural) structuralschema.Structural {
	return structuralschema.Structural{Generic: structuralschema.Generic{Type: "array"}, Items: &items}
}

func dictionary(values structuralschema.Structural) structuralschema.Structural {
	s := object(nil)
	s.AdditionalProperties = &structuralschema.StructuralOrBool{Structural: &values}
	return s
}

func schema() *structuralschema.Structural {
	open := object(map[string]structuralschema.Structural{"known": scalar("string")})
	open.XPreserveUnknownFields = true
	endpoint := object(map[string]structuralschema.Structural{"port": scalar("integer"), "labels": dictionary(scalar("string"))})
	root := object(map[string]structuralschema.Structural{
		"metadata": object(map[string]structuralschema.Structural{"annotations": dictionary(scalar("string")), "labels": dictionary(scalar("string"))}),
		"spec": object(map[string]structuralschema.Structural{
			"replicas":  scalar("integer"),
			"foo-bar":   scalar("string"),
			"maxSurge":  {Extensions: structuralschema.Extensions{XIntOrString: true}},
			"endpoints": list(endpoint),
			"pools":     dictionary(endpoint),
			"open":      open,
			"empty":     object(nil),
		}),
	})
	return &root
}

func TestResolve(t *testing.T) {
	for _, tc := range []struct{ path, want, err string }{
		{path: "", want: "object"},
		{path: "spec.replicas", want: "integer"},
		{path: "metadata.annotations['example.com/zone']", want: "string"},
		{path: "spec.endpoints[*].labels[*]", want: "string"},
		{path: "spec.pools.a.port", want: "integer"},
		{path: "spec.pools[*].port", want: "integer"},
		{path: "spec.open.known", want: "string"},
		{path: "spec.open.other", err: `spec.open has no field "other" in the schema, only unknown fields: declare the field in the schema, or set spec.open as a whole`},
		{path: "spec.replcias", err: `spec has no field "replcias": did you mean "replicas"?`},
		{path: "spec.foo__dash__bar", err: `spec has no field "foo__dash__bar": did you mean "foo-bar"?`},
		{path: "spec.other", err: `spec has no field "other": its fields are empty, endpoints, foo-bar, maxSurge, open, pools, replicas`},
		{path: "Spec.other", err: `the object has no field "Spec": did you mean "spec"?`},
		{path: "self.spec.replicas", err: `paths start at the object: write "spec.replicas" instead of "self.spec.replicas"`},
		{path: "$.spec", err: `paths start at the object: write "spec" instead of "$.spec"`},
		{path: "spec.empty.a", err: `spec.empty has no fields in the schema: declare the field "a"`},
		{path: "spec.maxSurge.a", err: "spec.maxSurge is an integer or a string and has no fields"},
		{path: "spec.replicas.a", err: "spec.replicas is an integer and has no fields"},
		{path: "spec.replicas[*]", err: "spec.replicas is an integer and has no fields"},
		{path: "spec[*]", err: "spec is an object with fields, and [*] is for the entries of lists and maps: write the name of a field, such as spec.empty"},
		{path: "spec.empty[*]", err: "spec.empty has neither items nor additionalProperties in the schema: declare them to run rules for its entries"},
		{path: "spec.endpoints.port", err: `spec.endpoints is a list, which has no field "port": write spec.endpoints[*] in scope to run the rule for every item`},
		{path: "metadata.annotations.example.com", err: "metadata.annotations.example is a string and has no fields: write metadata.annotations['example.com']"},
		{path: "spec." + strings.Repeat("x", 1<<20), err: `spec has no field "` + strings.Repeat("x", 128) + `...": its fields are empty, endpoints, foo-bar, maxSurge, open, pools, replicas`},
	} {
		t.Run(tc.path[:min(len(tc.path), 50)], func(t *testing.T) {
			path, err := rulepath.ParseScope(tc.path)
			if err != nil {
				t.Fatal(err)
			}
			found, err := ruleschema.Resolve(path, schema())
			switch {
			case tc.err != "":
				if err == nil || err.Error() != tc.err {
					t.Errorf("got error %v, want %s", err, tc.err)
				}
			case err != nil:
				t.Error(err)
			case found.Type != tc.want:
				t.Errorf("got type %s, want %s", found.Type, tc.want)
			}
		})
	}
}
