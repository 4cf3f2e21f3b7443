// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"regexp"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"celador.io/celador/test/integration/testserver"
)

// changing are the columns whose cells depend on the time.
var changing = map[string]*regexp.Regexp{
	"Available":   regexp.MustCompile(`^(True|False|<unknown>)$`),
	"TypeChecked": regexp.MustCompile(`^(True|False|Unknown|<unknown>)$`),
	"Age":         regexp.MustCompile(`^[0-9]+[sm]`), // of young objects
}

func TestTables(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		resource, spec string
		columns        []string
		cells          []any
	}{
		"policy": {
			resource: policies, spec: policy(`validations: [{expression: "true"}, {expression: "true"}]`),
			columns: []string{"Name", "Validations", "ParamKind", "Available", "TypeChecked", "Age"}, cells: []any{2.0, "<unset>"},
		},
		"policy with parameters": {
			resource: policies, spec: fullPolicy,
			columns: []string{"Name", "Validations", "ParamKind", "Available", "TypeChecked", "Age"}, cells: []any{2.0, "v1/ConfigMap"},
		},
		"mutating policy": {
			resource: mutatingPolicies, spec: fullMutatingPolicy,
			columns: []string{"Name", "Mutations", "ParamKind", "Available", "TypeChecked", "Age"}, cells: []any{2.0, "v1/ConfigMap"},
		},
		"mutating binding": {
			resource: mutatingBindings, spec: fullMutatingBinding,
			columns: []string{"Name", "PolicyName", "ParamRef", "Age"}, cells: []any{"demo", "default/limits"},
		},
		"binding": {
			resource: bindings, spec: `{policyName: demo, validationActions: [Deny]}`,
			columns: []string{"Name", "PolicyName", "ParamRef", "Age"}, cells: []any{"demo", "<unset>"},
		},
		"binding to a parameter": {
			resource: bindings, spec: fullBinding,
			columns: []string{"Name", "PolicyName", "ParamRef", "Age"}, cells: []any{"demo", "default/limits"},
		},
	} {
		for _, version := range versions[tc.resource] {
			t.Run(name+" "+version, func(t *testing.T) {
				created := create(t, raw(t, admin, version, tc.resource), object(t, version, tc.resource, testserver.UniqueName("table"), tc.spec))
				for _, path := range []string{"/" + created.GetName(), "?fieldSelector=metadata.name%3D" + created.GetName()} {
					var table metav1.Table
					get(t, "/apis/"+group+"/"+version+"/"+tc.resource+path, "application/json;as=Table;v=v1;g=meta.k8s.io", &table)
					var columns []string
					for _, column := range table.ColumnDefinitions {
						columns = append(columns, column.Name)
					}
					if diff := cmp.Diff(tc.columns, columns); diff != "" {
						t.Errorf("columns (-want +got):\n%s", diff)
					}
					if len(table.Rows) != 1 {
						t.Fatalf("got rows %v, want one", table.Rows)
					}
					var cells []any
					for i, cell := range table.Rows[0].Cells {
						pattern, ok := changing[columns[i]]
						if !ok {
							cells = append(cells, cell)
						} else if value, _ := cell.(string); !pattern.MatchString(value) {
							t.Errorf("%s is %v", columns[i], cell)
						}
					}
					want := append([]any{created.GetName()}, tc.cells...)
					if diff := cmp.Diff(want, cells); diff != "" {
						t.Errorf("cells (-want +got):\n%s", diff)
					}
				}
			})
		}
	}
}
