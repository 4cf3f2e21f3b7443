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
	resource := newREST(t)

	plainRow := []any{"plain", int64(2), "<unset>", "<unknown>", "<unknown>"}
	parameterizedRow := []any{"parameterized", int64(0), "rules.example.com/v1/ReplicaLimit", "<unknown>", "2d2h"}
	for name, tc := range map[string]struct {
		obj       runtime.Object
		wantMeta  metav1.ListMeta
		wantCells [][]any
	}{
		"list": {policies, policies.ListMeta, [][]any{plainRow, parameterizedRow}},
		"one":  {&plain, metav1.ListMeta{ResourceVersion: "12"}, [][]any{plainRow}},
	} {
		t.Run(name, func(t *testing.T) {
			table, err := resource.ConvertToTable(t.Context(), tc.obj, &metav1.TableOptions{})
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

func isAvailable(column metav1.TableColumnDefinition) bool { return column.Name == "Available" }

// The one column that is not Kubernetes' is always shown.
func TestColumnsAreThoseOfKubernetes(t *testing.T) {
	want, err := printers.NewTableGenerator().With(upstreamtables.AddHandlers).
		GenerateTable(&upstream.ValidatingAdmissionPolicyList{}, printers.GenerateOptions{Wide: true})
	if err != nil {
		t.Fatal(err)
	}
	resource := newREST(t)
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
