// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package policytest

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/authorization/authorizer"

	"celador.io/admission/cel/expression"
	"celador.io/admission/internal/activation"
	"celador.io/admission/policyspec"
)

// Subject holds the values that expressions read.
type Subject struct {
	Attributes *admission.VersionedAttributes
	// Namespace and Param may be nil.
	Namespace  *corev1.Namespace
	Param      *unstructured.Unstructured
	Authorizer authorizer.UnconditionalAuthorizer
}

// NewSeries returns a series that evaluates validations on a subject, with the given variables and
// budget, outside of any policy.
func NewSeries(ctx context.Context, s Subject, variables []expression.Variable, budget *expression.Budget) *expression.Series {
	a := s.Attributes
	return activation.NewSeries(ctx, activation.Subject{
		Input: activation.NewInput(a.Attributes, a.GetResource(), a.VersionedKind, a.VersionedObject.Object(), a.VersionedOldObject.Object(),
			activation.NewAuthorizer(s.Authorizer)),
		Namespace: activation.NewNamespace(s.Namespace),
		Params:    activation.NewParams(s.Param, activation.Unstructured),
	}, policyspec.Validation, variables, budget)
}
