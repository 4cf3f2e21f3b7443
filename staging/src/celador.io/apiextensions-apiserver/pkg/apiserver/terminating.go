// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"context"
	"errors"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apiserver/pkg/admission"
)

// noCreation is an admission plugin that forbids the operation Create. It is in the admission chain
// while a CustomResourceDefinition is terminating. Patch and apply requests have the operation,
// too, if they create the object.
type noCreation struct{}

func (noCreation) Handles(operation admission.Operation) bool { return operation == admission.Create }

func (noCreation) Admit(_ context.Context, a admission.Attributes, _ admission.ObjectInterfaces) error {
	return apierrors.NewForbidden(a.GetResource().GroupResource(), a.GetName(),
		errors.New("create not allowed while custom resource definition is terminating"))
}

func (c noCreation) Validate(ctx context.Context, a admission.Attributes, o admission.ObjectInterfaces) error {
	return c.Admit(ctx, a, o)
}
