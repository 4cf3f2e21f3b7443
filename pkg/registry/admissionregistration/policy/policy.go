// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package policy stores ValidatingAdmissionPolicies, MutatingAdmissionPolicies and their bindings
// in etcd. The code is generic: Validating, Mutating, ValidatingBinding and MutatingBinding
// declare the differences between the kinds.
package policy

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/registry/generic"

	"celador.io/admission/policyspec"
	"celador.io/apiserver/pkg/admission/paramaccess"
	"celador.io/apiserver/pkg/admission/policyvalidation"
)

// A Descriptor describes a kind of policies. Policy is a pointer to its internal type, External a
// pointer to its v1 type, and Spec the type of its spec. Validating and Mutating are the two kinds.
type Descriptor[Policy APIObject, Spec policyspec.Spec, External metav1.Object] struct {
	descriptor[Policy, Spec, External]
	policies       policyvalidation.PolicyDescriptor[External, Spec]
	validateStatus func(Policy) field.ErrorList
}

// NewREST returns the storage of a kind of policies and the storage of its status subresource,
// which share one store. Both can serve every version of the API group. The codec of getter must
// decode to the internal type. Tables show whether bindings bind a policy. See NewStrategy for
// params, types, warnings and bindings. NewREST returns the errors of getter and of connecting to
// etcd.
func NewREST[Policy APIObject, Spec policyspec.Spec, External metav1.Object](descriptor Descriptor[Policy, Spec, External], getter generic.RESTOptionsGetter, params paramaccess.Checker, types policyvalidation.TypeCheck[External], warnings policyvalidation.TypeWarnings[External], bindings BoundPolicies[Policy]) (*REST, *StatusREST, error) {
	resource, err := newREST(NewStrategy(descriptor, params, types, warnings, bindings), getter, bindings.column())
	if err != nil {
		return nil, nil, err
	}
	return resource, newStatusREST(resource.Store, NewStatusStrategy(descriptor)), nil
}

// NewStrategy returns the Strategy for a kind of policies, which validates them as
// policyvalidation.PolicyDescriptor does. params checks whether the user may read the params, types
// returns the type errors that reject a policy, and warnings those that only cause warnings.
// bindings tells which policies are bound.
func NewStrategy[Policy APIObject, Spec policyspec.Spec, External metav1.Object](descriptor Descriptor[Policy, Spec, External], params paramaccess.Checker, types policyvalidation.TypeCheck[External], warnings policyvalidation.TypeWarnings[External], bindings BoundPolicies[Policy]) Strategy[Policy, Spec, External] {
	return newStrategy(descriptor.descriptor, descriptor.policies.Validator(params, types, warnings, bindings.bound))
}
