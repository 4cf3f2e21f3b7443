// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"k8s.io/apimachinery/pkg/api/meta"
	metatable "k8s.io/apimachinery/pkg/api/meta/table"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/kubernetes/pkg/printers"
	printerstorage "k8s.io/kubernetes/pkg/printers/storage"

	v1 "celador.io/api/admissionregistration/v1"
)

// column is a column in the tables that kubectl prints. Names, types and descriptions are
// Kubernetes', letter by letter, except for the columns Available and TypeChecked and for each
// lookupColumn.
type column[T any] struct {
	definition metav1.TableColumnDefinition
	cell       func(T) any
}

// newTable returns the table of a kind with the given columns between the name and the age. items
// returns the items of a list.
func newTable[T, List any, P interface {
	*T
	APIObject
}](items func(*List) []T, columns ...column[P]) rest.TableConvertor {
	docs := metav1.ObjectMeta{}.SwaggerDoc()
	definitions := []metav1.TableColumnDefinition{{Name: "Name", Type: "string", Format: "name", Description: docs["name"]}}
	for _, column := range columns {
		definitions = append(definitions, column.definition)
	}
	definitions = append(definitions, metav1.TableColumnDefinition{Name: "Age", Type: "string", Description: docs["creationTimestamp"]})

	row := func(obj P) metav1.TableRow {
		cells := []any{obj.GetName()}
		for _, column := range columns {
			cells = append(cells, column.cell(obj))
		}
		cells = append(cells, metatable.ConvertToHumanReadableDateType(obj.GetCreationTimestamp()))
		return metav1.TableRow{Cells: cells, Object: runtime.RawExtension{Object: obj}}
	}
	single := func(obj P, _ printers.GenerateOptions) ([]metav1.TableRow, error) {
		return []metav1.TableRow{row(obj)}, nil
	}
	list := func(list *List, _ printers.GenerateOptions) ([]metav1.TableRow, error) {
		all := items(list)
		rows := make([]metav1.TableRow, len(all))
		for i := range all {
			rows[i] = row(&all[i])
		}
		return rows, nil
	}
	return printerstorage.TableConvertor{TableGenerator: printers.NewTableGenerator().With(func(handlers printers.PrintHandler) {
		utilruntime.Must(handlers.TableHandler(definitions, single))
		utilruntime.Must(handlers.TableHandler(definitions, list))
	})}
}

// Cells without a value.
const unset, unknown = "<unset>", "<unknown>"

func paramKindColumn[Policy any](paramKind func(Policy) *v1.ParamKind) column[Policy] {
	return column[Policy]{
		metav1.TableColumnDefinition{Name: "ParamKind", Type: "string", Description: "ParamKind specifies the kind of resources used to parameterize this policy"},
		func(policy Policy) any {
			kind := paramKind(policy)
			if kind == nil {
				return unset
			}
			return kind.APIVersion + "/" + kind.Kind
		},
	}
}

// availableColumn returns the column that shows whether a policy is available. Kubernetes has no
// such column.
func availableColumn[Policy any](conditions func(Policy) []metav1.Condition) column[Policy] {
	return conditionColumn(v1.PolicyConditionAvailable, "Whether the policy can decide as written; the condition in its status says more", conditions)
}

// typeCheckedColumn returns the column that shows whether the expressions of a policy fit the
// types. Kubernetes has no such column.
func typeCheckedColumn[Policy any](conditions func(Policy) []metav1.Condition) column[Policy] {
	return conditionColumn(v1.PolicyConditionTypeChecked, "Whether the expressions of the policy fit the types that they read and write; status.typeChecking lists the type errors", conditions)
}

// conditionColumn returns a column with the status of a condition, which is also the name of the
// column.
func conditionColumn[Policy any](name, description string, conditions func(Policy) []metav1.Condition) column[Policy] {
	return column[Policy]{
		metav1.TableColumnDefinition{Name: name, Type: "string", Description: description},
		func(policy Policy) any {
			if condition := meta.FindStatusCondition(conditions(policy), name); condition != nil {
				return string(condition.Status)
			}
			return unknown
		},
	}
}

func policyNameColumn[B any](policyName func(B) string) column[B] {
	return column[B]{
		metav1.TableColumnDefinition{Name: "PolicyName", Type: "string", Description: "PolicyName indicates the policy definition which the policy binding binded to"},
		func(binding B) any { return policyName(binding) },
	}
}

// paramRefColumn returns the column that shows the name of a param as namespace/name, or else a
// selector. Without a namespace it shows */name, because a binding does not tell whether its
// params are cluster-scoped.
func paramRefColumn[B any](paramRef func(B) *v1.ParamRef) column[B] {
	return column[B]{
		metav1.TableColumnDefinition{Name: "ParamRef", Type: "string", Description: "ParamRef indicates the param resource which sets the configuration param"},
		func(binding B) any {
			switch ref := paramRef(binding); {
			case ref == nil, ref.Name == "" && ref.Selector == nil:
				return unset
			case ref.Name == "":
				return ref.Selector.String()
			case ref.Namespace == "":
				return "*/" + ref.Name
			default:
				return ref.Namespace + "/" + ref.Name
			}
		},
	}
}
