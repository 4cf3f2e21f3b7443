// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package apiextensions

import (
	upstream "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// CustomResourceDefinition is the internal form of the kind; see the v1 type.
type CustomResourceDefinition struct {
	// CustomResourceDefinition is the part that Kubernetes defines. Its conversion strategy is None
	// if Expressions.ConversionRules is set, because Kubernetes' validation refuses
	// ConversionRules.
	upstream.CustomResourceDefinition

	// Expressions is the rest of the spec. Nil if the CustomResourceDefinition has only fields of
	// Kubernetes.
	Expressions *ExpressionFields
}

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// CustomResourceDefinitionList is the internal form of the list.
type CustomResourceDefinitionList struct {
	metav1.TypeMeta
	metav1.ListMeta

	Items []CustomResourceDefinition
}
