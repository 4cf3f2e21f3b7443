// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/registry/generic/registry"
	"k8s.io/apiserver/pkg/registry/rest"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"celador.io/admission/policyspec"
	"celador.io/apiextensions-apiserver/pkg/registry/status"
	"celador.io/apiserver/pkg/admission/policyvalidation"
)

// StatusREST serves the status subresource of policies: get, update and patch, also as tables. It
// is safe for concurrent use.
//
// Its updates never create a policy, not even for server-side apply: a client that writes the
// status of a missing policy has not seen its deletion yet.
type StatusREST struct {
	*status.REST
	rest.TableConvertor // of the policies
}

func newStatusREST[Policy APIObject, Spec policyspec.Spec](resource *registry.Store, strategy StatusStrategy[Policy, Spec]) *StatusREST {
	return &StatusREST{status.New(resource, strategy, strategy), resource}
}

// StatusStrategy validates and prepares writes to the status of policies. It implements
// rest.RESTUpdateStrategy and rest.ResetFieldsStrategy, and is safe for concurrent use.
type StatusStrategy[Policy APIObject, Spec policyspec.Spec] struct {
	rest.RESTUpdateStrategy // the strategy for the spec
	spec                    func(Policy) *Spec
	validate                func(Policy) field.ErrorList
}

// NewStatusStrategy returns the StatusStrategy for a kind of policies.
func NewStatusStrategy[Policy APIObject, Spec policyspec.Spec, External metav1.Object](descriptor Descriptor[Policy, Spec, External]) StatusStrategy[Policy, Spec] {
	return StatusStrategy[Policy, Spec]{newStrategy(descriptor.descriptor, policyvalidation.Validator[External]{}), descriptor.spec, descriptor.validateStatus}
}

// PrepareForUpdate restores everything except the status from the stored policy.
func (s StatusStrategy[Policy, Spec]) PrepareForUpdate(_ context.Context, obj, old runtime.Object) {
	policy, stored := obj.(Policy), old.(Policy)
	*s.spec(policy) = *s.spec(stored)
	metav1.ResetObjectMetaForStatus(policy, stored)
}

// ValidateUpdate returns the validation errors of the new status. It does not validate the spec.
func (s StatusStrategy[Policy, Spec]) ValidateUpdate(_ context.Context, obj, _ runtime.Object) field.ErrorList {
	return s.validate(obj.(Policy))
}

// GetResetFields returns the fields that a write of the status resets, by version of the API group.
func (StatusStrategy[Policy, Spec]) GetResetFields() map[fieldpath.APIVersion]*fieldpath.Set {
	return inEachVersion("metadata", "spec")
}
