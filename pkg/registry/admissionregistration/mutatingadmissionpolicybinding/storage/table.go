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

// convertor gives the columns of upstream, names and descriptions to the letter.
var convertor = table.Of(table.BindingColumns,
	func(list *admissionregistration.MutatingAdmissionPolicyBindingList) []admissionregistration.MutatingAdmissionPolicyBinding {
		return list.Items
	}, row)

func row(binding *admissionregistration.MutatingAdmissionPolicyBinding) metav1.TableRow {
	return metav1.TableRow{
		Cells: []any{
			binding.Name,
			binding.Spec.PolicyName,
			table.ParamRef(binding.Spec.ParamRef),
			metatable.ConvertToHumanReadableDateType(binding.CreationTimestamp),
		},
		Object: runtime.RawExtension{Object: binding},
	}
}
