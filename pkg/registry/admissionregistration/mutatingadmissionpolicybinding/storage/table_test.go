// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package storage_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	upstream "k8s.io/kubernetes/pkg/apis/admissionregistration"
	"k8s.io/kubernetes/pkg/printers"
	upstreamtables "k8s.io/kubernetes/pkg/printers/internalversion"

	v1 "celador.io/api/admissionregistration/v1"
	"celador.io/celador/pkg/apis/admissionregistration"
)

// TestTable compares with what Kubernetes prints for the same bindings.
func TestTable(t *testing.T) {
	refs := map[string]*v1.ParamRef{
		"no-params":      nil,
		"name":           {Name: "max-5"},
		"namespace-name": {Name: "max-5", Namespace: "limits"},
		"selector": {Namespace: "limits", Selector: &metav1.LabelSelector{
			MatchLabels:      map[string]string{"env": "test"},
			MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "tier", Operator: metav1.LabelSelectorOpIn, Values: []string{"a", "b"}}},
		}},
		"neither": {Namespace: "limits"},
	}
	wantParams := map[string]any{
		"no-params":      "<unset>",
		"name":           "*/max-5",
		"namespace-name": "limits/max-5",
		"selector":       "&LabelSelector{MatchLabels:map[string]string{env: test,},MatchExpressions:[]LabelSelectorRequirement{LabelSelectorRequirement{Key:tier,Operator:In,Values:[a b],},},}",
		"neither":        "<unset>",
	}
	ours := &admissionregistration.MutatingAdmissionPolicyBindingList{ListMeta: metav1.ListMeta{ResourceVersion: "34", Continue: "more"}}
	theirs := &upstream.MutatingAdmissionPolicyBindingList{ListMeta: ours.ListMeta}
	for name, ref := range refs {
		meta := metav1.ObjectMeta{Name: name}
		ours.Items = append(ours.Items, admissionregistration.MutatingAdmissionPolicyBinding{
			ObjectMeta: meta, Spec: v1.MutatingAdmissionPolicyBindingSpec{PolicyName: "demo-policy", ParamRef: ref},
		})
		spec := upstream.MutatingAdmissionPolicyBindingSpec{PolicyName: "demo-policy"}
		if ref != nil {
			spec.ParamRef = &upstream.ParamRef{Name: ref.Name, Namespace: ref.Namespace, Selector: ref.Selector}
		}
		theirs.Items = append(theirs.Items, upstream.MutatingAdmissionPolicyBinding{ObjectMeta: meta, Spec: spec})
	}
	want, err := printers.NewTableGenerator().With(upstreamtables.AddHandlers).GenerateTable(theirs, printers.GenerateOptions{Wide: true})
	if err != nil {
		t.Fatal(err)
	}
	got, err := newREST(t).ConvertToTable(t.Context(), ours, &metav1.TableOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range got.Rows {
		name := row.Cells[0].(string)
		if row.Cells[2] != wantParams[name] {
			t.Errorf("%s: got paramRef %v, want %v", name, row.Cells[2], wantParams[name])
		}
		if binding := row.Object.Object.(*admissionregistration.MutatingAdmissionPolicyBinding); binding.Name != name {
			t.Errorf("row of %s holds object %s", name, binding.Name)
		}
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
