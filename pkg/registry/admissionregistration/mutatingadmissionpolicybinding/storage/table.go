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

	v1 "celador.io/api/admissionregistration/v1"
	"celador.io/celador/pkg/apis/admissionregistration"
)

// table gives the columns of upstream, names and descriptions to the letter.
var table = printerstorage.TableConvertor{
	TableGenerator: printers.NewTableGenerator().With(func(handlers printers.PrintHandler) {
		meta := metav1.ObjectMeta{}.SwaggerDoc()
		columns := []metav1.TableColumnDefinition{
			{Name: "Name", Type: "string", Format: "name", Description: meta["name"]},
			{Name: "PolicyName", Type: "string", Description: "PolicyName indicates the policy definition which the policy binding binded to"},
			{Name: "ParamRef", Type: "string", Description: "ParamRef indicates the param resource which sets the configuration param"},
			{Name: "Age", Type: "string", Description: meta["creationTimestamp"]},
		}
		utilruntime.Must(handlers.TableHandler(columns, single))
		utilruntime.Must(handlers.TableHandler(columns, list))
	}),
}

func single(binding *admissionregistration.MutatingAdmissionPolicyBinding, _ printers.GenerateOptions) ([]metav1.TableRow, error) {
	return []metav1.TableRow{row(binding)}, nil
}

func list(bindings *admissionregistration.MutatingAdmissionPolicyBindingList, _ printers.GenerateOptions) ([]metav1.TableRow, error) {
	rows := make([]metav1.TableRow, len(bindings.Items))
	for i := range bindings.Items {
		rows[i] = row(&bindings.Items[i])
	}
	return rows, nil
}

func row(binding *admissionregistration.MutatingAdmissionPolicyBinding) metav1.TableRow {
	return metav1.TableRow{
		Cells: []any{
			binding.Name,
			binding.Spec.PolicyName,
			selected(binding.Spec.ParamRef),
			metatable.ConvertToHumanReadableDateType(binding.CreationTimestamp),
		},
		Object: runtime.RawExtension{Object: binding},
	}
}

// selected shows a name as namespace/name. Without a namespace it is "*/name": the
// binding does not tell a cluster-scoped paramKind from a namespaced one.
func selected(ref *v1.ParamRef) string {
	switch {
	case ref == nil, ref.Name == "" && ref.Selector == nil:
		return "<unset>"
	case ref.Name == "":
		return ref.Selector.String()
	case ref.Namespace == "":
		return "*/" + ref.Name
	default:
		return ref.Namespace + "/" + ref.Name
	}
}
