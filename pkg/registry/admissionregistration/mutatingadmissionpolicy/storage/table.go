// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package storage

import (
	metatable "k8s.io/apimachinery/pkg/api/meta/table"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/kubernetes/pkg/printers"
	printerstorage "k8s.io/kubernetes/pkg/printers/storage"

	"celador.io/celador/pkg/apis/admissionregistration"
)

// table gives the columns of upstream, names and descriptions to the letter.
var table = printerstorage.TableConvertor{
	TableGenerator: printers.NewTableGenerator().With(func(handlers printers.PrintHandler) {
		docs := metav1.ObjectMeta{}.SwaggerDoc()
		columns := []metav1.TableColumnDefinition{
			{Name: "Name", Type: "string", Format: "name", Description: docs["name"]},
			{Name: "Mutations", Type: "integer", Description: "Mutation indicates the number of mutations rules defined in this configuration"},
			{Name: "ParamKind", Type: "string", Description: "ParamKind specifies the kind of resources used to parameterize this policy"},
			{Name: "Age", Type: "string", Description: docs["creationTimestamp"]},
		}
		utilruntime.Must(handlers.TableHandler(columns, single))
		utilruntime.Must(handlers.TableHandler(columns, list))
	}),
}

func single(policy *admissionregistration.MutatingAdmissionPolicy, _ printers.GenerateOptions) ([]metav1.TableRow, error) {
	return []metav1.TableRow{row(policy)}, nil
}

func list(policies *admissionregistration.MutatingAdmissionPolicyList, _ printers.GenerateOptions) ([]metav1.TableRow, error) {
	rows := make([]metav1.TableRow, len(policies.Items))
	for i := range policies.Items {
		rows[i] = row(&policies.Items[i])
	}
	return rows, nil
}

func row(policy *admissionregistration.MutatingAdmissionPolicy) metav1.TableRow {
	params := "<unset>"
	if kind := policy.Spec.ParamKind; kind != nil {
		params = kind.APIVersion + "/" + kind.Kind
	}
	return metav1.TableRow{
		Cells: []any{
			policy.Name,
			int64(len(policy.Spec.Mutations)),
			params,
			metatable.ConvertToHumanReadableDateType(policy.CreationTimestamp),
		},
		Object: runtime.RawExtension{Object: policy},
	}
}
