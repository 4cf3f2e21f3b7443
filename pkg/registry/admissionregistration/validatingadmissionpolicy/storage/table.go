// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package storage

import (
	"k8s.io/apimachinery/pkg/api/meta"
	metatable "k8s.io/apimachinery/pkg/api/meta/table"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/kubernetes/pkg/printers"
	printerstorage "k8s.io/kubernetes/pkg/printers/storage"

	v1 "celador.io/api/admissionregistration/v1"
	"celador.io/celador/pkg/apis/admissionregistration"
)

// table gives the columns of upstream, names and descriptions to the letter, and
// whether the policy is available.
var table = printerstorage.TableConvertor{
	TableGenerator: printers.NewTableGenerator().With(func(handlers printers.PrintHandler) {
		docs := metav1.ObjectMeta{}.SwaggerDoc()
		columns := []metav1.TableColumnDefinition{
			{Name: "Name", Type: "string", Format: "name", Description: docs["name"]},
			{Name: "Validations", Type: "integer", Description: "Validations indicates the number of validation rules defined in this configuration"},
			{Name: "ParamKind", Type: "string", Description: "ParamKind specifies the kind of resources used to parameterize this policy"},
			{Name: "Available", Type: "string", Description: "Whether the policy can decide as written; the condition in its status says more"},
			{Name: "Age", Type: "string", Description: docs["creationTimestamp"]},
		}
		utilruntime.Must(handlers.TableHandler(columns, single))
		utilruntime.Must(handlers.TableHandler(columns, list))
	}),
}

func single(policy *admissionregistration.ValidatingAdmissionPolicy, _ printers.GenerateOptions) ([]metav1.TableRow, error) {
	return []metav1.TableRow{row(policy)}, nil
}

func list(policies *admissionregistration.ValidatingAdmissionPolicyList, _ printers.GenerateOptions) ([]metav1.TableRow, error) {
	rows := make([]metav1.TableRow, len(policies.Items))
	for i := range policies.Items {
		rows[i] = row(&policies.Items[i])
	}
	return rows, nil
}

func row(policy *admissionregistration.ValidatingAdmissionPolicy) metav1.TableRow {
	params := "<unset>"
	if kind := policy.Spec.ParamKind; kind != nil {
		params = kind.APIVersion + "/" + kind.Kind
	}
	available := "<unknown>"
	if condition := meta.FindStatusCondition(policy.Status.Conditions, v1.PolicyConditionAvailable); condition != nil {
		available = string(condition.Status)
	}
	return metav1.TableRow{
		Cells: []any{
			policy.Name,
			int64(len(policy.Spec.Validations)),
			params,
			available,
			metatable.ConvertToHumanReadableDateType(policy.CreationTimestamp),
		},
		Object: runtime.RawExtension{Object: policy},
	}
}
