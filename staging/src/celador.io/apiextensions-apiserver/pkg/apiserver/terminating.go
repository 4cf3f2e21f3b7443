// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"context"
	"errors"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apiserver/pkg/admission"
)

// withoutCreation is the admission chain of a terminating CustomResourceDefinition. It forbids the
// operation Create, which patch and apply requests may have as well, and passes other operations to
// chain.
type withoutCreation struct{ chain admission.Interface }

func (w withoutCreation) Handles(operation admission.Operation) bool {
	return operation == admission.Create || w.chain.Handles(operation)
}

func (w withoutCreation) Admit(ctx context.Context, a admission.Attributes, o admission.ObjectInterfaces) error {
	if a.GetOperation() == admission.Create {
		return newTerminatingError(a)
	}
	if chain, ok := w.chain.(admission.MutationInterface); ok {
		return chain.Admit(ctx, a, o)
	}
	return nil
}

func (w withoutCreation) Validate(ctx context.Context, a admission.Attributes, o admission.ObjectInterfaces) error {
	if a.GetOperation() == admission.Create {
		return newTerminatingError(a)
	}
	if chain, ok := w.chain.(admission.ValidationInterface); ok {
		return chain.Validate(ctx, a, o)
	}
	return nil
}

func newTerminatingError(a admission.Attributes) error {
	return apierrors.NewForbidden(a.GetResource().GroupResource(), a.GetName(),
		errors.New("create not allowed while custom resource definition is terminating"))
}
