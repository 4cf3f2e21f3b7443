// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package policy_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	upstream "k8s.io/kubernetes/pkg/apis/admissionregistration"
	"k8s.io/kubernetes/pkg/printers"
	upstreamtables "k8s.io/kubernetes/pkg/printers/internalversion"

	v1 "celador.io/api/admissionregistration/v1"
	"celador.io/celador/pkg/apis/admissionregistration"
	"celador.io/celador/pkg/registry/admissionregistration/policy"
)

// expectTable fails the test unless the tables of list and of each of its items equal the table
// that Kubernetes prints for upstreamList, except for the columns that Kubernetes does not have. It
// returns the table of list.
func (k descriptor) expectTable(t *testing.T, list, upstreamList runtime.Object) *metav1.Table {
	t.Helper()
	want, err := printers.NewTableGenerator().With(upstreamtables.AddHandlers).GenerateTable(upstreamList, printers.GenerateOptions{Wide: true})
	if err != nil {
		t.Fatal(err)
	}
	resource, _ := k.store(t)
	table := func(obj runtime.Object) *metav1.Table {
		table, err := resource.ConvertToTable(t.Context(), obj, &metav1.TableOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return table
	}
	items, err := meta.ExtractList(list)
	if err != nil {
		t.Fatal(err)
	}
	got := table(list)
	for i, row := range got.Rows {
		one, item := table(items[i]), items[i].(policy.APIObject)
		if len(one.Rows) != 1 {
			t.Fatalf("got %d rows for one object", len(one.Rows))
		}
		if diff := cmp.Diff(row.Cells, one.Rows[0].Cells); diff != "" {
			t.Errorf("cells of one object (-in list +alone):\n%s", diff)
		}
		if diff := cmp.Diff(metav1.ListMeta{ResourceVersion: item.GetResourceVersion()}, one.ListMeta); diff != "" {
			t.Errorf("list metadata of one object (-want +got):\n%s", diff)
		}
		if obj := row.Object.Object.(policy.APIObject); obj.GetName() != row.Cells[0] {
			t.Errorf("row of %v holds object %s", row.Cells, obj.GetName())
		}
	}
	if diff := cmp.Diff(withoutObjects(want), withoutOwnColumns(withoutObjects(got))); diff != "" {
		t.Errorf("table (-Kubernetes +got):\n%s", diff)
	}
	return got
}

func withoutObjects(table *metav1.Table) *metav1.Table {
	table = table.DeepCopy()
	for i := range table.Rows {
		table.Rows[i].Object.Object = nil
	}
	return table
}

// withoutOwnColumns returns the table without the columns that Kubernetes does not have.
func withoutOwnColumns(table *metav1.Table) *metav1.Table {
	table = table.DeepCopy()
	for _, name := range []string{"Available", "TypeChecked", "Bound", "PolicyFound"} {
		i := columnNamed(table, name)
		if i == -1 {
			continue
		}
		table.ColumnDefinitions = slices.Delete(table.ColumnDefinitions, i, i+1)
		for j, row := range table.Rows {
			table.Rows[j].Cells = slices.Delete(row.Cells, i, i+1)
		}
	}
	return table
}

// columnNamed returns the index of a column, or -1.
func columnNamed(table *metav1.Table, name string) int {
	return slices.IndexFunc(table.ColumnDefinitions, func(column metav1.TableColumnDefinition) bool { return column.Name == name })
}

func TestTableOfPolicies(t *testing.T) {
	plain := metav1.ObjectMeta{Name: "plain", ResourceVersion: "12"}
	parameterized := metav1.ObjectMeta{Name: "parameterized", CreationTimestamp: metav1.Time{Time: time.Now().Add(-50 * time.Hour)}}
	meta := metav1.ListMeta{ResourceVersion: "34", Continue: "more", RemainingItemCount: new(int64(5))}
	limits, upstreamLimits := &v1.ParamKind{APIVersion: "rules.example.com/v1", Kind: "ReplicaLimit"}, &upstream.ParamKind{APIVersion: "rules.example.com/v1", Kind: "ReplicaLimit"}
	lists := [][2]runtime.Object{{
		&admissionregistration.ValidatingAdmissionPolicyList{ListMeta: meta, Items: []admissionregistration.ValidatingAdmissionPolicy{
			{ObjectMeta: plain, Spec: v1.ValidatingAdmissionPolicySpec{Validations: []v1.Validation{{}, {}}}},
			{ObjectMeta: parameterized, Spec: v1.ValidatingAdmissionPolicySpec{ParamKind: limits}},
		}},
		&upstream.ValidatingAdmissionPolicyList{ListMeta: meta, Items: []upstream.ValidatingAdmissionPolicy{
			{ObjectMeta: plain, Spec: upstream.ValidatingAdmissionPolicySpec{Validations: []upstream.Validation{{}, {}}}},
			{ObjectMeta: parameterized, Spec: upstream.ValidatingAdmissionPolicySpec{ParamKind: upstreamLimits}},
		}},
	}, {
		&admissionregistration.MutatingAdmissionPolicyList{ListMeta: meta, Items: []admissionregistration.MutatingAdmissionPolicy{
			{ObjectMeta: plain, Spec: v1.MutatingAdmissionPolicySpec{Mutations: []v1.Mutation{{}, {}}}},
			{ObjectMeta: parameterized, Spec: v1.MutatingAdmissionPolicySpec{ParamKind: limits}},
		}},
		&upstream.MutatingAdmissionPolicyList{ListMeta: meta, Items: []upstream.MutatingAdmissionPolicy{
			{ObjectMeta: plain, Spec: upstream.MutatingAdmissionPolicySpec{Mutations: []upstream.Mutation{{}, {}}}},
			{ObjectMeta: parameterized, Spec: upstream.MutatingAdmissionPolicySpec{ParamKind: upstreamLimits}},
		}},
	}}
	for i, k := range policyKinds {
		t.Run(k.name, func(t *testing.T) {
			table := k.expectTable(t, lists[i][0], lists[i][1])
			want := [][]any{
				{"plain", int64(2), "<unset>", "<unknown>", "<unknown>", "<unknown>", "<unknown>"},
				{"parameterized", int64(0), "rules.example.com/v1/ReplicaLimit", "<unknown>", "<unknown>", "<unknown>", "2d2h"},
			}
			for i, row := range table.Rows {
				if diff := cmp.Diff(want[i], row.Cells); diff != "" {
					t.Errorf("cells (-want +got):\n%s", diff)
				}
			}
			for _, name := range []string{"Available", "TypeChecked", "Bound"} {
				if i := columnNamed(table, name); i == -1 || table.ColumnDefinitions[i].Priority != 0 {
					t.Errorf("column %s is missing or hidden: %v", name, table.ColumnDefinitions)
				}
			}
		})
	}
}

func TestTableOfBindings(t *testing.T) {
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
	listMeta := metav1.ListMeta{ResourceVersion: "34", Continue: "more"}
	validating, mutating := &admissionregistration.ValidatingAdmissionPolicyBindingList{ListMeta: listMeta}, &admissionregistration.MutatingAdmissionPolicyBindingList{ListMeta: listMeta}
	upstreamValidating, upstreamMutating := &upstream.ValidatingAdmissionPolicyBindingList{ListMeta: listMeta}, &upstream.MutatingAdmissionPolicyBindingList{ListMeta: listMeta}
	for name, ref := range refs {
		meta := metav1.ObjectMeta{Name: name}
		var upstreamRef *upstream.ParamRef
		if ref != nil {
			upstreamRef = &upstream.ParamRef{Name: ref.Name, Namespace: ref.Namespace, Selector: ref.Selector}
		}
		validating.Items = append(validating.Items, admissionregistration.ValidatingAdmissionPolicyBinding{
			ObjectMeta: meta, Spec: v1.ValidatingAdmissionPolicyBindingSpec{PolicyName: "demo-policy", ParamRef: ref},
		})
		upstreamValidating.Items = append(upstreamValidating.Items, upstream.ValidatingAdmissionPolicyBinding{
			ObjectMeta: meta, Spec: upstream.ValidatingAdmissionPolicyBindingSpec{PolicyName: "demo-policy", ParamRef: upstreamRef},
		})
		mutating.Items = append(mutating.Items, admissionregistration.MutatingAdmissionPolicyBinding{
			ObjectMeta: meta, Spec: v1.MutatingAdmissionPolicyBindingSpec{PolicyName: "demo-policy", ParamRef: ref},
		})
		upstreamMutating.Items = append(upstreamMutating.Items, upstream.MutatingAdmissionPolicyBinding{
			ObjectMeta: meta, Spec: upstream.MutatingAdmissionPolicyBindingSpec{PolicyName: "demo-policy", ParamRef: upstreamRef},
		})
	}
	lists := [][2]runtime.Object{{validating, upstreamValidating}, {mutating, upstreamMutating}}
	for i, k := range bindingKinds {
		t.Run(k.name, func(t *testing.T) {
			for _, row := range k.expectTable(t, lists[i][0], lists[i][1]).Rows {
				if name := row.Cells[0].(string); row.Cells[2] != wantParams[name] {
					t.Errorf("%s: got paramRef %v, want %v", name, row.Cells[2], wantParams[name])
				}
			}
		})
	}
}
