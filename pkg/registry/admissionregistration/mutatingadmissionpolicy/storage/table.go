// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package storage

import (
	metatable "k8s.io/apimachinery/pkg/api/meta/table"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"celador.io/celador/pkg/apis/admissionregistration"
	"celador.io/celador/pkg/registry/admissionregistration/table"
)

// convertor gives the columns of upstream, names and descriptions to the letter, and
// whether the policy is available.
var convertor = table.Of([]metav1.TableColumnDefinition{
	{Name: "Mutations", Type: "integer", Description: "Mutation indicates the number of mutations rules defined in this configuration"},
	table.ParamKindColumn,
	table.AvailableColumn,
}, func(list *admissionregistration.MutatingAdmissionPolicyList) []admissionregistration.MutatingAdmissionPolicy {
	return list.Items
}, row)

func row(policy *admissionregistration.MutatingAdmissionPolicy) metav1.TableRow {
	return metav1.TableRow{
		Cells: []any{
			policy.Name,
			int64(len(policy.Spec.Mutations)),
			table.ParamKind(policy.Spec.ParamKind),
			table.Available(policy.Status.Conditions),
			metatable.ConvertToHumanReadableDateType(policy.CreationTimestamp),
		},
		Object: runtime.RawExtension{Object: policy},
	}
}
