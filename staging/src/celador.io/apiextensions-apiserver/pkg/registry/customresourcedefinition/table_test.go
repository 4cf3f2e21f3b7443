// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package customresourcedefinition_test

import (
	"testing"

	upstream "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/registry/generic"

	"celador.io/apiextensions-apiserver/pkg/apis/apiextensions"
)

func TestTables(t *testing.T) {
	theirs, ours, _ := servers(t, generic.UndecoratedStorage)
	their := &upstream.CustomResourceDefinitionList{ListMeta: metav1.ListMeta{ResourceVersion: "7", Continue: "next", RemainingItemCount: new(int64(2))}}
	our := &apiextensions.CustomResourceDefinitionList{ListMeta: their.ListMeta}
	for _, definition := range append(fuzz(t, 20), decode(t, demo)) {
		their.Items = append(their.Items, *definition)
		our.Items = append(our.Items, *plain(definition))
	}
	tests := map[string][2]runtime.Object{
		"list":       {their, our},
		"empty list": {&upstream.CustomResourceDefinitionList{}, &apiextensions.CustomResourceDefinitionList{}},
		"one":        {&their.Items[0], &our.Items[0]},
		"status":     {&metav1.Status{}, &metav1.Status{}},
	}
	for name, objects := range tests {
		for options, tableOptions := range map[string]runtime.Object{"headers": nil, "no headers": &metav1.TableOptions{NoHeaders: true}} {
			t.Run(name+" with "+options, func(t *testing.T) {
				theirTable, err := theirs.store.ConvertToTable(testContext(), objects[0], tableOptions)
				if err != nil {
					t.Fatal(err)
				}
				ourTable, err := ours.store.ConvertToTable(testContext(), objects[1], tableOptions)
				if err != nil {
					t.Fatal(err)
				}
				for i := range ourTable.Rows {
					row, ok := ourTable.Rows[i].Object.Object.(*apiextensions.CustomResourceDefinition)
					if !ok {
						t.Fatalf("row %d has an object of type %T", i, ourTable.Rows[i].Object.Object)
					}
					ourTable.Rows[i].Object.Object = &row.CustomResourceDefinition
				}
				compare(t, "table", any(*theirTable), any(*ourTable))
			})
		}
	}
}
