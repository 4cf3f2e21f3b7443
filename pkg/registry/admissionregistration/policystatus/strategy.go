// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package policystatus

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/registry/rest"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// Strategy governs writes to the status of policies P. It implements
// rest.RESTUpdateStrategy and ResetFieldsStrategy, and is safe for concurrent use.
type Strategy[P metav1.Object] struct {
	rest.RESTUpdateStrategy // the resource's: most is the same for a status
	keepSpec                func(policy, stored P)
	validate                func(policy, stored P) field.ErrorList
}

// NewStrategy returns the Strategy for the status of what resource governs. keepSpec gives
// a policy the spec of the stored one; validate returns what is wrong with its status.
func NewStrategy[P metav1.Object](resource rest.RESTUpdateStrategy, keepSpec func(policy, stored P), validate func(policy, stored P) field.ErrorList) Strategy[P] {
	return Strategy[P]{resource, keepSpec, validate}
}

// PrepareForUpdate keeps everything as stored, but for the status. The generation
// stays.
func (s Strategy[P]) PrepareForUpdate(_ context.Context, obj, old runtime.Object) {
	policy, stored := any(obj).(P), any(old).(P)
	s.keepSpec(policy, stored)
	metav1.ResetObjectMetaForStatus(policy, stored)
}

// ValidateUpdate returns what is wrong with the new status.
func (s Strategy[P]) ValidateUpdate(_ context.Context, obj, old runtime.Object) field.ErrorList {
	return s.validate(any(obj).(P), any(old).(P))
}

// GetResetFields returns the fields that a status write ignores, by served version.
func (Strategy[P]) GetResetFields() map[fieldpath.APIVersion]*fieldpath.Set {
	return InEachVersion("metadata", "spec")
}
