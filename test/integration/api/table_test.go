// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"celador.io/celador/test/integration/testserver"
)

// changing are the columns whose cells depend on the time.
var changing = map[string]*regexp.Regexp{
	"Available":   regexp.MustCompile(`^(True|False|<unknown>)$`),
	"TypeChecked": regexp.MustCompile(`^(True|False|Unknown|<unknown>)$`),
	"Age":         regexp.MustCompile(`^[0-9]+[sm]`), // of young objects
}

// asTable is the media type that kubectl accepts.
const asTable = "application/json;as=Table;v=v1;g=meta.k8s.io"

func TestTables(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		resource, spec string
		columns        []string
		cells          []any
	}{
		"policy": {
			resource: policies, spec: policy(`validations: [{expression: "true"}, {expression: "true"}]`),
			columns: []string{"Name", "Validations", "ParamKind", "Available", "TypeChecked", "Bound", "Age"}, cells: []any{2.0, "<unset>", "False"},
		},
		"policy with parameters": {
			resource: policies, spec: fullPolicy,
			columns: []string{"Name", "Validations", "ParamKind", "Available", "TypeChecked", "Bound", "Age"}, cells: []any{2.0, "v1/ConfigMap", "False"},
		},
		"mutating policy": {
			resource: mutatingPolicies, spec: fullMutatingPolicy,
			columns: []string{"Name", "Mutations", "ParamKind", "Available", "TypeChecked", "Bound", "Age"}, cells: []any{2.0, "v1/ConfigMap", "False"},
		},
		"mutating binding": {
			resource: mutatingBindings, spec: fullMutatingBinding,
			columns: []string{"Name", "PolicyName", "ParamRef", "PolicyFound", "Age"}, cells: []any{"demo", "default/limits", "False"},
		},
		"binding": {
			resource: bindings, spec: `{policyName: demo, validationActions: [Deny]}`,
			columns: []string{"Name", "PolicyName", "ParamRef", "PolicyFound", "Age"}, cells: []any{"demo", "<unset>", "False"},
		},
		"binding to a parameter": {
			resource: bindings, spec: fullBinding,
			columns: []string{"Name", "PolicyName", "ParamRef", "PolicyFound", "Age"}, cells: []any{"demo", "default/limits", "False"},
		},
	} {
		for _, version := range versions[tc.resource] {
			t.Run(name+" "+version, func(t *testing.T) {
				created := create(t, raw(t, admin, version, tc.resource), object(t, version, tc.resource, testserver.UniqueName("table"), tc.spec))
				for _, path := range []string{"/" + created.GetName(), "?fieldSelector=metadata.name%3D" + created.GetName()} {
					var table metav1.Table
					get(t, "/apis/"+group+"/"+version+"/"+tc.resource+path, asTable, &table)
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

// Tables tell whether a policy is bound and whether the policy of a binding exists, at the time of
// the table. So do watches, for each change of the object itself.
func TestEffectInTables(t *testing.T) {
	t.Parallel()
	for _, kind := range []struct{ policies, bindings, spec, bindingSpec string }{
		{policies, bindings, policy(`validations: [{expression: "true"}]`), `{policyName: %s, validationActions: [Deny]}`},
		{mutatingPolicies, mutatingBindings, policy(`
mutations: [{patchType: JSONPatch, jsonPatch: {expression: "[JSONPatch{op: 'test', path: '/kind', value: 'Pod'}]"}}]
reinvocationPolicy: Never`), `{policyName: %s}`},
	} {
		for _, version := range versions[kind.policies] {
			t.Run(kind.policies+" "+version, func(t *testing.T) {
				t.Parallel()
				name := testserver.UniqueName("effect")
				ofPolicies, ofBindings := raw(t, admin, version, kind.policies), raw(t, admin, version, kind.bindings)
				bound := func(want string) { t.Helper(); expectCell(t, version, kind.policies, name, "Bound", want) }
				found := func(want string) { t.Helper(); expectCell(t, version, kind.bindings, name, "PolicyFound", want) }

				create(t, ofBindings, object(t, version, kind.bindings, name, fmt.Sprintf(kind.bindingSpec, name)))
				found("False")
				create(t, ofPolicies, object(t, version, kind.policies, name, kind.spec))
				found("True")
				bound("True")
				remove(t, ofBindings, name)
				bound("False")

				rows := watchTable(t, version, kind.policies, name)
				expectRow(t, rows, "Bound", "False")
				create(t, ofBindings, object(t, version, kind.bindings, name, fmt.Sprintf(kind.bindingSpec, name)))
				bound("True")
				label(t, ofPolicies, name)
				expectRow(t, rows, "Bound", "True")

				rows = watchTable(t, version, kind.bindings, name)
				expectRow(t, rows, "PolicyFound", "True")
				remove(t, ofPolicies, name)
				found("False")
				label(t, ofBindings, name)
				expectRow(t, rows, "PolicyFound", "False")
			})
		}
	}
}

// expectCell waits until the tables of an object and of a list with only this object have a cell in
// a column.
func expectCell(t *testing.T, version, resource, name, column, want string) {
	t.Helper()
	for _, path := range []string{"/" + name, "?fieldSelector=metadata.name%3D" + name} {
		testserver.Eventually(t, func(context.Context) error {
			var table metav1.Table
			get(t, "/apis/"+group+"/"+version+"/"+resource+path, asTable, &table)
			if got := cellOf(&table, table.ColumnDefinitions, column); got != want {
				return fmt.Errorf("%s of %s is %v, want %s", column, resource+path, got, want)
			}
			return nil
		})
	}
}

// cellOf returns the cell of the only row, or nil.
func cellOf(table *metav1.Table, columns []metav1.TableColumnDefinition, name string) any {
	at := slices.IndexFunc(columns, func(column metav1.TableColumnDefinition) bool { return column.Name == name })
	if at < 0 || len(table.Rows) != 1 || len(table.Rows[0].Cells) != len(columns) {
		return nil
	}
	return table.Rows[0].Cells[at]
}

// tableWatch reads the events of a watch whose objects are tables.
type tableWatch struct {
	events *json.Decoder
	// columns are those of the first event, the only one that has any.
	columns []metav1.TableColumnDefinition
}

// watchTable begins a watch of one object, which begins with the object.
func watchTable(t *testing.T, version, resource, name string) *tableWatch {
	t.Helper()
	stream, err := stock(t, admin).Discovery().RESTClient().Get().AbsPath("/apis/"+group+"/"+version+"/"+resource).
		Param("watch", "true").Param("fieldSelector", "metadata.name="+name).SetHeader("Accept", asTable).Stream(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stream.Close() })
	return &tableWatch{events: json.NewDecoder(stream)}
}

// expectRow reads the next event.
func expectRow(t *testing.T, watch *tableWatch, column, want string) {
	t.Helper()
	var event struct {
		Type   string
		Object metav1.Table
	}
	if err := watch.events.Decode(&event); err != nil {
		t.Fatal(err)
	}
	if watch.columns == nil {
		watch.columns = event.Object.ColumnDefinitions
	}
	if got := cellOf(&event.Object, watch.columns, column); got != want {
		t.Errorf("%s event: %s is %v, want %s; %d columns, rows %v", event.Type, column, got, want, len(watch.columns), event.Object.Rows)
	}
}

// label changes the labels of an object.
func label(t *testing.T, client dynamic.ResourceInterface, name string) {
	t.Helper()
	if _, err := client.Patch(t.Context(), name, types.MergePatchType, []byte(`{"metadata":{"labels":{"effect":"shown"}}}`), metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
}
