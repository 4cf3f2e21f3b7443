// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"context"

	"celador.io/admission/policyspec"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/registry/generic/registry"
	"k8s.io/apiserver/pkg/registry/rest"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// StatusREST serves the status subresource of policies: get, update and patch. It is safe for
// concurrent use.
type StatusREST struct {
	store *registry.Store // not embedded, because a status can be neither listed nor deleted
}

func newStatusREST[Policy Object, Spec policyspec.Spec](resource *registry.Store, strategy StatusStrategy[Policy, Spec]) *StatusREST {
	store := *resource
	store.UpdateStrategy, store.ResetFieldsStrategy = strategy, strategy
	return &StatusREST{&store}
}

// New returns an empty policy.
func (r *StatusREST) New() runtime.Object { return r.store.New() }

// Destroy does nothing, because the REST of the policies destroys the shared store.
func (*StatusREST) Destroy() {}

// Get returns the policy with the given name, or a not found error.
func (r *StatusREST) Get(ctx context.Context, name string, options *metav1.GetOptions) (runtime.Object, error) {
	return r.store.Get(ctx, name, options)
}

// Update writes the status of an existing policy and returns the whole policy. Update never
// creates a policy, not even for server-side apply: a client that writes the status of a missing
// policy has not seen its deletion yet.
func (r *StatusREST) Update(ctx context.Context, name string, info rest.UpdatedObjectInfo, create rest.ValidateObjectFunc, update rest.ValidateObjectUpdateFunc, _ bool, options *metav1.UpdateOptions) (runtime.Object, bool, error) {
	return r.store.Update(ctx, name, info, create, update, false, options)
}

// GetResetFields returns the fields that a write of the status resets, by version of the API group.
func (r *StatusREST) GetResetFields() map[fieldpath.APIVersion]*fieldpath.Set {
	return r.store.GetResetFields()
}

// ConvertToTable returns the table of the policies, as the REST of the policies does.
func (r *StatusREST) ConvertToTable(ctx context.Context, obj, options runtime.Object) (*metav1.Table, error) {
	return r.store.ConvertToTable(ctx, obj, options)
}

// StatusStrategy validates and prepares writes to the status of policies. It implements
// rest.RESTUpdateStrategy and rest.ResetFieldsStrategy, and is safe for concurrent use.
type StatusStrategy[Policy Object, Spec policyspec.Spec] struct {
	rest.RESTUpdateStrategy // the strategy for the spec
	spec                    func(Policy) *Spec
	validate                func(Policy) field.ErrorList
}

// NewStatusStrategy returns the StatusStrategy for a kind of policies.
func NewStatusStrategy[Policy Object, Spec policyspec.Spec, External any](descriptor Descriptor[Policy, Spec, External]) StatusStrategy[Policy, Spec] {
	return StatusStrategy[Policy, Spec]{newStrategy(descriptor.descriptor, nil, nil), descriptor.spec, descriptor.validateStatus}
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
