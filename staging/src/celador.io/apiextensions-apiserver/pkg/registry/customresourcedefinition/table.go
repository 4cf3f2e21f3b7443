// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package customresourcedefinition

import (
	"context"

	upstream "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/registry/rest"

	"celador.io/apiextensions-apiserver/pkg/apis/apiextensions"
)

// tableConvertor prints CustomResourceDefinitions of Celador's internal version with the columns of
// Kubernetes. Kubernetes' own convertor returns no rows for types other than its internal version.
type tableConvertor struct{ upstream rest.TableConvertor }

// ConvertToTable implements rest.TableConvertor.
func (c tableConvertor) ConvertToTable(ctx context.Context, obj, options runtime.Object) (*metav1.Table, error) {
	var rows []runtime.Object
	switch converted := obj.(type) {
	case *apiextensions.CustomResourceDefinition:
		obj = &converted.CustomResourceDefinition
		rows = []runtime.Object{converted}
	case *apiextensions.CustomResourceDefinitionList:
		list := &upstream.CustomResourceDefinitionList{ListMeta: converted.ListMeta}
		for i := range converted.Items {
			list.Items = append(list.Items, converted.Items[i].CustomResourceDefinition)
			rows = append(rows, &converted.Items[i])
		}
		obj = list
	}
	table, err := c.upstream.ConvertToTable(ctx, obj, options)
	if err != nil {
		return nil, err
	}
	// The server converts the objects in the rows, and knows Celador's internal version only.
	for i, row := range rows {
		table.Rows[i].Object.Object = row
	}
	return table, nil
}
