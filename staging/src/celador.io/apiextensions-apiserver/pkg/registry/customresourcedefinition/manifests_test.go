// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package customresourcedefinition_test

import "fmt"

// manifest returns a CustomResourceDefinition whose versions have the schemas: v1, which is stored,
// v2 and so on.
func manifest(conversion string, schemas ...string) string {
	versions := ""
	for i, schema := range schemas {
		if i > 0 {
			versions += ","
		}
		versions += fmt.Sprintf(`{"name": "v%d", "served": true, "storage": %t, "schema": {"openAPIV3Schema": %s}}`, i+1, i == 0, schema)
	}
	return fmt.Sprintf(`{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
		"metadata": {"name": "demos.example.com"},
		"spec": {
			"group": "example.com", "scope": "Namespaced",
			"names": {"plural": "demos", "singular": "demo", "kind": "Demo", "listKind": "DemoList", "shortNames": ["dm"]},
			"conversion": %s,
			"versions": [%s]
		}
	}`, conversion, versions)
}

const (
	none   = `{"strategy": "None"}`
	object = `{"type": "object", "properties": {"spec": {"type": "object", "properties": {"size": {"type": "integer"}}}}}`
)

var demo = manifest(none, object)
