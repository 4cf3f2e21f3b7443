// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package policy stores ValidatingAdmissionPolicies, MutatingAdmissionPolicies and their bindings
// in etcd. The code is generic: Validating, Mutating, ValidatingBinding and MutatingBinding
// declare the differences between the kinds.
package policy

import (
	"context"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/registry/generic"
	utilfeature "k8s.io/apiserver/pkg/util/feature"

	"celador.io/admission/policyspec"
	v1 "celador.io/api/admissionregistration/v1"
	"celador.io/apiserver/pkg/features"

	"celador.io/celador/pkg/registry/admissionregistration/paramaccess"
)

// Descriptor describes a kind of policies by its internal type, its spec and, as External, its
// v1 type. Validating and Mutating are the two kinds.
type Descriptor[Policy Object, Spec policyspec.Spec, External any] struct {
	descriptor[Policy, Spec]
	paramKind func(Policy) *v1.ParamKind
	// external converts a policy to its v1 type. The two share memory, so neither may be changed.
	external func(Policy) *External
	// anatomy returns the expressions and gated fields of a spec. typeErrors compares them before
	// and after an update.
	anatomy        func(*Spec) *policyspec.Anatomy
	validateStatus func(Policy) field.ErrorList
}

// TypeCheck returns the type errors for which a valid policy must not be stored. It must not
// change the policy and must be safe for concurrent use.
type TypeCheck[External any] func(policy *External) field.ErrorList

// TypeWarnings returns warnings about type errors of a valid policy. It must not change the policy,
// must answer quickly, and must be safe for concurrent use.
type TypeWarnings[External any] func(ctx context.Context, policy *External) []string

// NewREST returns the storage of a kind of policies and the storage of its status subresource,
// which share one store. Both can serve every version of the API group. The codec of getter must
// decode to the internal type. Tables show whether bindings bind a policy. See NewStrategy for
// params, types, warnings and bindings. NewREST returns the errors of getter and of connecting to
// etcd.
func NewREST[Policy Object, Spec policyspec.Spec, External any](descriptor Descriptor[Policy, Spec, External], getter generic.RESTOptionsGetter, params paramaccess.Checker, types TypeCheck[External], warnings TypeWarnings[External], bindings BoundPolicies[Policy]) (*REST, *StatusREST, error) {
	resource, err := newREST(NewStrategy(descriptor, params, types, warnings, bindings), getter, bindings.column())
	if err != nil {
		return nil, nil, err
	}
	return resource, newStatusREST(resource.Store, NewStatusStrategy(descriptor)), nil
}

// NewStrategy returns the Strategy for a kind of policies. The user must be allowed by params to
// read all objects of a new paramKind. types runs only while feature gate
// AdmissionPolicyTypeEnforcement is on; it may be nil. So may warnings. The Strategy warns about an
// updated policy that none of bindings binds.
func NewStrategy[Policy Object, Spec policyspec.Spec, External any](descriptor Descriptor[Policy, Spec, External], params paramaccess.Checker, types TypeCheck[External], warnings TypeWarnings[External], bindings BoundPolicies[Policy]) Strategy[Policy, Spec] {
	var warn func(context.Context, Policy) []string
	if warnings != nil {
		warn = func(ctx context.Context, policy Policy) []string { return warnings(ctx, descriptor.external(policy)) }
	}
	strategy := newStrategy(descriptor.descriptor, func(ctx context.Context, policy, stored Policy) field.ErrorList {
		var errs field.ErrorList
		if paramKind := descriptor.paramKind(policy); !equality.Semantic.DeepEqual(paramKind, descriptor.paramKind(stored)) {
			errs = params.ValidateKind(ctx, paramKind)
		}
		return append(errs, descriptor.typeErrors(types, policy, stored)...)
	}, warn)
	strategy.warnUpdated = bindings.warn
	return strategy
}

// typeErrors returns the type errors of a policy. It returns none if the update changes nothing
// that they depend on: an earlier version of the server may have accepted the stored policy.
func (k Descriptor[Policy, Spec, External]) typeErrors(types TypeCheck[External], policy, stored Policy) field.ErrorList {
	if types == nil || !utilfeature.DefaultFeatureGate.Enabled(features.AdmissionPolicyTypeEnforcement) {
		return nil
	}
	if k.anatomy(k.spec(policy)).SameTypes(k.anatomy(k.spec(stored))) {
		return nil
	}
	return types(k.external(policy))
}
