// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package harness

import (
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "celador.io/api/admissionregistration/v1"
)

// Kinds of params. NewCluster serves all of them but UnknownKind.
var (
	ConfigMapKind    = &v1.ParamKind{APIVersion: "v1", Kind: "ConfigMap"}
	NamespaceKind    = &v1.ParamKind{APIVersion: "v1", Kind: "Namespace"}
	LimitKind        = &v1.ParamKind{APIVersion: "rules.example.com/v1", Kind: "Limit"}
	ClusterLimitKind = &v1.ParamKind{APIVersion: "rules.example.com/v1", Kind: "ClusterLimit"}
	UnknownKind      = &v1.ParamKind{APIVersion: "rules.example.com/v1", Kind: "Unknown"}
)

// Labelled returns a selector for objects with a label.
func Labelled(key, value string) *metav1.LabelSelector {
	return &metav1.LabelSelector{MatchLabels: map[string]string{key: value}}
}

// Having returns a selector with one requirement.
func Having(key string, operator metav1.LabelSelectorOperator, values ...string) *metav1.LabelSelector {
	return &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: key, Operator: operator, Values: values}}}
}

// Selector returns a random selector about a label and the given values. Its operator may be
// invalid.
func (g Generator) Selector(key string, values ...string) *metav1.LabelSelector {
	return Pick(g, Labelled(key, values[0]), Labelled(key, Pick(g, values...)), &metav1.LabelSelector{},
		Having(key, metav1.LabelSelectorOpIn, values...), Having(key, metav1.LabelSelectorOpNotIn, values[0]),
		Having(key, metav1.LabelSelectorOpExists), Having(key, metav1.LabelSelectorOpDoesNotExist), Having(key, "Resembles"))
}

// Conditions returns match conditions named c0, c1 and so on.
func Conditions(expressions ...string) []v1.MatchCondition {
	var conditions []v1.MatchCondition
	for i, expression := range expressions {
		conditions = append(conditions, v1.MatchCondition{Name: fmt.Sprint("c", i), Expression: expression})
	}
	return conditions
}

// Variables returns the variables of a policy. The arguments are the name and the expression of the
// first one, of the second one, and so on.
func Variables(namesAndExpressions ...string) []v1.Variable {
	var variables []v1.Variable
	for pair := range slices.Chunk(namesAndExpressions, 2) {
		variables = append(variables, v1.Variable{Name: pair[0], Expression: pair[1]})
	}
	return variables
}

// Metadata of policies and bindings in most tests.
const (
	UsualPolicy  = "policy.example.com"
	UsualBinding = "binding.example.com"
)

// Stored returns the metadata of a policy or binding with the fields that a server sets.
func Stored(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Name: name, ResourceVersion: "1", Generation: 1}
}
