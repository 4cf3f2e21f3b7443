// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package storage_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/registry/rest"
	upstream "k8s.io/kubernetes/pkg/apis/admissionregistration"
	"k8s.io/kubernetes/pkg/printers"
	upstreamtables "k8s.io/kubernetes/pkg/printers/internalversion"

	v1 "celador.io/api/admissionregistration/v1"
	"celador.io/celador/pkg/apis/admissionregistration"
)

func TestTable(t *testing.T) {
	plain := admissionregistration.ValidatingAdmissionPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: "plain", ResourceVersion: "12"},
		Spec:       v1.ValidatingAdmissionPolicySpec{Validations: []v1.Validation{{}, {}}},
	}
	parameterized := admissionregistration.ValidatingAdmissionPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: "parameterized", CreationTimestamp: metav1.Time{Time: time.Now().Add(-50 * time.Hour)}},
		Spec:       v1.ValidatingAdmissionPolicySpec{ParamKind: &v1.ParamKind{APIVersion: "rules.example.com/v1", Kind: "ReplicaLimit"}},
	}
	policies := &admissionregistration.ValidatingAdmissionPolicyList{
		ListMeta: metav1.ListMeta{ResourceVersion: "34", Continue: "more", RemainingItemCount: new(int64(5))},
		Items:    []admissionregistration.ValidatingAdmissionPolicy{plain, parameterized},
	}
	resource, status := newREST(t)

	plainRow := []any{"plain", int64(2), "<unset>", "<unknown>", "<unknown>"}
	parameterizedRow := []any{"parameterized", int64(0), "rules.example.com/v1/ReplicaLimit", "<unknown>", "2d2h"}
	for name, tc := range map[string]struct {
		convertor rest.TableConvertor
		obj       runtime.Object
		wantMeta  metav1.ListMeta
		wantCells [][]any
	}{
		"list":       {resource, policies, policies.ListMeta, [][]any{plainRow, parameterizedRow}},
		"one":        {resource, &plain, metav1.ListMeta{ResourceVersion: "12"}, [][]any{plainRow}},
		"its status": {status, &plain, metav1.ListMeta{ResourceVersion: "12"}, [][]any{plainRow}},
	} {
		t.Run(name, func(t *testing.T) {
			table, err := tc.convertor.ConvertToTable(t.Context(), tc.obj, &metav1.TableOptions{})
			if err != nil {
				t.Fatal(err)
			}
			var cells [][]any
			for _, row := range table.Rows {
				cells = append(cells, row.Cells)
				if got := row.Object.Object.(*admissionregistration.ValidatingAdmissionPolicy).Name; got != row.Cells[0] {
					t.Errorf("row %v holds object %s", row.Cells, got)
				}
			}
			if diff := cmp.Diff(tc.wantCells, cells); diff != "" {
				t.Errorf("cells (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tc.wantMeta, table.ListMeta); diff != "" {
				t.Errorf("list metadata (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAvailableColumn(t *testing.T) {
	checked := metav1.Condition{Type: "TypeChecked", Status: metav1.ConditionTrue}
	available := func(status metav1.ConditionStatus) metav1.Condition {
		return metav1.Condition{Type: "Available", Status: status}
	}
	resource, _ := newREST(t)
	for name, tc := range map[string]struct {
		conditions []metav1.Condition
		want       string
	}{
		"no condition":      {want: "<unknown>"},
		"another condition": {[]metav1.Condition{checked}, "<unknown>"},
		"available":         {[]metav1.Condition{checked, available(metav1.ConditionTrue)}, "True"},
		"not available":     {[]metav1.Condition{available(metav1.ConditionFalse), checked}, "False"},
		"undecided":         {[]metav1.Condition{available(metav1.ConditionUnknown)}, "Unknown"},
	} {
		t.Run(name, func(t *testing.T) {
			policy := &admissionregistration.ValidatingAdmissionPolicy{Status: v1.ValidatingAdmissionPolicyStatus{Conditions: tc.conditions}}
			table, err := resource.ConvertToTable(t.Context(), policy, nil)
			if err != nil {
				t.Fatal(err)
			}
			column := slices.IndexFunc(table.ColumnDefinitions, isAvailable)
			if got := table.Rows[0].Cells[column]; got != tc.want {
				t.Errorf("got %v, want %s", got, tc.want)
			}
		})
	}
}

func isAvailable(column metav1.TableColumnDefinition) bool { return column.Name == "Available" }

// The one column that is not Kubernetes' is always shown.
func TestColumnsAreThoseOfKubernetes(t *testing.T) {
	want, err := printers.NewTableGenerator().With(upstreamtables.AddHandlers).
		GenerateTable(&upstream.ValidatingAdmissionPolicyList{}, printers.GenerateOptions{Wide: true})
	if err != nil {
		t.Fatal(err)
	}
	resource, _ := newREST(t)
	got, err := resource.ConvertToTable(t.Context(), &admissionregistration.ValidatingAdmissionPolicyList{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	own := slices.IndexFunc(got.ColumnDefinitions, isAvailable)
	if own == -1 || got.ColumnDefinitions[own].Priority != 0 {
		t.Fatalf("column Available is missing or hidden: %v", got.ColumnDefinitions)
	}
	if diff := cmp.Diff(want.ColumnDefinitions, slices.DeleteFunc(slices.Clone(got.ColumnDefinitions), isAvailable)); diff != "" {
		t.Errorf("columns (-want +got):\n%s", diff)
	}
}
