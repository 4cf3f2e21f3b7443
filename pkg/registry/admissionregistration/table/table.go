// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package table has what the tables of policies and bindings have in common.
package table

import (
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/kubernetes/pkg/printers"
	printerstorage "k8s.io/kubernetes/pkg/printers/storage"

	v1 "celador.io/api/admissionregistration/v1"
)

// Of returns the table of objects T, which a List has as items. The columns of all tables
// are, first, the name, and last, the age. The row has a cell for each column.
func Of[T, List any](between []metav1.TableColumnDefinition, items func(*List) []T, row func(*T) metav1.TableRow) printerstorage.TableConvertor {
	docs := metav1.ObjectMeta{}.SwaggerDoc()
	columns := []metav1.TableColumnDefinition{{Name: "Name", Type: "string", Format: "name", Description: docs["name"]}}
	columns = append(columns, between...)
	columns = append(columns, metav1.TableColumnDefinition{Name: "Age", Type: "string", Description: docs["creationTimestamp"]})

	single := func(object *T, _ printers.GenerateOptions) ([]metav1.TableRow, error) {
		return []metav1.TableRow{row(object)}, nil
	}
	list := func(objects *List, _ printers.GenerateOptions) ([]metav1.TableRow, error) {
		all := items(objects)
		rows := make([]metav1.TableRow, len(all))
		for i := range all {
			rows[i] = row(&all[i])
		}
		return rows, nil
	}
	return printerstorage.TableConvertor{TableGenerator: printers.NewTableGenerator().With(func(handlers printers.PrintHandler) {
		utilruntime.Must(handlers.TableHandler(columns, single))
		utilruntime.Must(handlers.TableHandler(columns, list))
	})}
}

// ParamKindColumn is that of policies, with upstream's name and description.
var ParamKindColumn = metav1.TableColumnDefinition{Name: "ParamKind", Type: "string", Description: "ParamKind specifies the kind of resources used to parameterize this policy"}

// ParamKind returns the cell of ParamKindColumn.
func ParamKind(kind *v1.ParamKind) string {
	if kind == nil {
		return unset
	}
	return kind.APIVersion + "/" + kind.Kind
}

// AvailableColumn is that of policies, which Kubernetes does not have.
var AvailableColumn = metav1.TableColumnDefinition{Name: "Available", Type: "string", Description: "Whether the policy can decide as written; the condition in its status says more"}

// Available returns the cell of AvailableColumn, by the conditions in the status.
func Available(conditions []metav1.Condition) string {
	if condition := meta.FindStatusCondition(conditions, v1.PolicyConditionAvailable); condition != nil {
		return string(condition.Status)
	}
	return "<unknown>"
}

const unset = "<unset>"

// BindingColumns are those of bindings, with upstream's names and descriptions.
var BindingColumns = []metav1.TableColumnDefinition{
	{Name: "PolicyName", Type: "string", Description: "PolicyName indicates the policy definition which the policy binding binded to"},
	{Name: "ParamRef", Type: "string", Description: "ParamRef indicates the param resource which sets the configuration param"},
}

// ParamRef returns the cell of the second of BindingColumns. A name is shown as
// namespace/name. Without a namespace it is "*/name": the binding does not tell a
// cluster-scoped paramKind from a namespaced one.
func ParamRef(ref *v1.ParamRef) string {
	switch {
	case ref == nil, ref.Name == "" && ref.Selector == nil:
		return unset
	case ref.Name == "":
		return ref.Selector.String()
	case ref.Namespace == "":
		return "*/" + ref.Name
	default:
		return ref.Namespace + "/" + ref.Name
	}
}
