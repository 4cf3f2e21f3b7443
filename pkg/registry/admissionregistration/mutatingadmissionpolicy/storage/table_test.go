// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package storage_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	upstream "k8s.io/kubernetes/pkg/apis/admissionregistration"
	"k8s.io/kubernetes/pkg/printers"
	upstreamtables "k8s.io/kubernetes/pkg/printers/internalversion"

	v1 "celador.io/api/admissionregistration/v1"
	"celador.io/celador/pkg/apis/admissionregistration"
)

// TestTable compares with what Kubernetes prints for the same policies. One column is not
// Kubernetes', and always shown.
func TestTable(t *testing.T) {
	plain := metav1.ObjectMeta{Name: "plain", ResourceVersion: "12"}
	parameterized := metav1.ObjectMeta{Name: "parameterized", CreationTimestamp: metav1.Time{Time: time.Now().Add(-50 * time.Hour)}}
	meta := metav1.ListMeta{ResourceVersion: "34", Continue: "more", RemainingItemCount: new(int64(5))}
	ours := &admissionregistration.MutatingAdmissionPolicyList{ListMeta: meta, Items: []admissionregistration.MutatingAdmissionPolicy{
		{ObjectMeta: plain, Spec: v1.MutatingAdmissionPolicySpec{Mutations: []v1.Mutation{{}, {}}}},
		{ObjectMeta: parameterized, Spec: v1.MutatingAdmissionPolicySpec{ParamKind: &v1.ParamKind{APIVersion: "rules.example.com/v1", Kind: "ReplicaLimit"}}},
	}}
	theirs := &upstream.MutatingAdmissionPolicyList{ListMeta: meta, Items: []upstream.MutatingAdmissionPolicy{
		{ObjectMeta: plain, Spec: upstream.MutatingAdmissionPolicySpec{Mutations: []upstream.Mutation{{}, {}}}},
		{ObjectMeta: parameterized, Spec: upstream.MutatingAdmissionPolicySpec{ParamKind: &upstream.ParamKind{APIVersion: "rules.example.com/v1", Kind: "ReplicaLimit"}}},
	}}
	want, err := printers.NewTableGenerator().With(upstreamtables.AddHandlers).GenerateTable(theirs, printers.GenerateOptions{Wide: true})
	if err != nil {
		t.Fatal(err)
	}
	resource := newREST(t)
	got, err := resource.ConvertToTable(t.Context(), ours, &metav1.TableOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range got.Rows {
		one, err := resource.ConvertToTable(t.Context(), &ours.Items[i], &metav1.TableOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(got.Rows[i].Cells, one.Rows[0].Cells); diff != "" || len(one.Rows) != 1 {
			t.Errorf("alone it has %d rows and these cells (-in list +alone):\n%s", len(one.Rows), diff)
		}
		if policy := got.Rows[i].Object.Object.(*admissionregistration.MutatingAdmissionPolicy); policy.Name != got.Rows[i].Cells[0] {
			t.Errorf("row of %v holds object %s", got.Rows[i].Cells, policy.Name)
		}
	}
	wantCells := []any{"parameterized", int64(0), "rules.example.com/v1/ReplicaLimit", "<unknown>", "2d2h"}
	if diff := cmp.Diff(wantCells, got.Rows[1].Cells); diff != "" {
		t.Errorf("cells (-want +got):\n%s", diff)
	}
	own := slices.IndexFunc(got.ColumnDefinitions, func(column metav1.TableColumnDefinition) bool { return column.Name == "Available" })
	if own == -1 || got.ColumnDefinitions[own].Priority != 0 {
		t.Fatalf("column Available is missing or hidden: %v", got.ColumnDefinitions)
	}
	got.ColumnDefinitions = slices.Delete(slices.Clone(got.ColumnDefinitions), own, own+1)
	for i := range got.Rows {
		got.Rows[i].Cells = slices.Delete(got.Rows[i].Cells, own, own+1)
	}
	for _, table := range []*metav1.Table{got, want} {
		for i := range table.Rows {
			table.Rows[i].Object.Object = nil
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("table (-Kubernetes +got):\n%s", diff)
	}
}
