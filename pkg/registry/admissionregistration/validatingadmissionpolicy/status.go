// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package validatingadmissionpolicy

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"celador.io/celador/pkg/apis/admissionregistration/validation"
)

// StatusStrategy governs writes to the status subresource. It implements
// rest.RESTUpdateStrategy and ResetFieldsStrategy, and is safe for concurrent use.
type StatusStrategy struct {
	Strategy
}

// PrepareForUpdate keeps everything as stored, but for the status. The generation
// stays.
func (StatusStrategy) PrepareForUpdate(_ context.Context, obj, old runtime.Object) {
	policy, stored := both(obj, old)
	policy.Spec = stored.Spec
	metav1.ResetObjectMetaForStatus(&policy.ObjectMeta, &stored.ObjectMeta)
}

// ValidateUpdate returns what is wrong with the new status.
func (StatusStrategy) ValidateUpdate(_ context.Context, obj, old runtime.Object) field.ErrorList {
	return validation.ValidateValidatingAdmissionPolicyStatusUpdate(both(obj, old))
}

// GetResetFields returns the fields that a status write ignores, by served version.
func (StatusStrategy) GetResetFields() map[fieldpath.APIVersion]*fieldpath.Set {
	return inEachVersion(fieldpath.MakePathOrDie("metadata"), fieldpath.MakePathOrDie("spec"))
}
