// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package policyvalidation validates writes of policies and bindings: the rules of the API, access
// to params, types, and warnings. The storage of kube-apiserver and the webhook of the polyfill
// share it. Objects have their v1 types and are never changed.
package policyvalidation

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	utilfeature "k8s.io/apiserver/pkg/util/feature"

	"celador.io/admission/policyspec"
)

// A Validator validates writes of one kind of policies or bindings, and returns warnings about
// them. Object is a pointer to the v1 type of the kind. A Validator is safe for concurrent use if
// the functions from which it was made are. The zero Validator returns no warnings, and panics if
// it is asked for errors.
type Validator[Object metav1.Object] struct {
	validate       func(Object) field.ErrorList
	validateUpdate func(obj, stored Object) field.ErrorList
	check          func(ctx context.Context, obj, stored Object) field.ErrorList
	warn           func(ctx context.Context, obj Object) []string
	warnUpdated    func(ctx context.Context, obj Object) []string
}

// Validate returns the errors of a new object by the rules of the API.
func (v Validator[Object]) Validate(obj Object) field.ErrorList { return v.validate(obj) }

// ValidateUpdate returns the errors of an updated object by the rules of the API. It accepts some
// values that Validate rejects if the stored object has them already, because another version of
// the server may have accepted them.
func (v Validator[Object]) ValidateUpdate(obj, stored Object) field.ErrorList {
	return v.validateUpdate(obj, stored)
}

// Check returns errors that do not follow from the object alone, which must be valid by the rules
// of the API. It authorizes the user of the context to read params, and checks types and the bound
// policy. On create the stored object is empty.
func (v Validator[Object]) Check(ctx context.Context, obj, stored Object) field.ErrorList {
	return v.check(ctx, obj, stored)
}

// Warnings returns the warnings about a valid new object: type errors of a policy, and a binding
// whose policy does not exist. An object that is being deleted has none.
func (v Validator[Object]) Warnings(ctx context.Context, obj Object) []string {
	if v.warn == nil || obj.GetDeletionTimestamp() != nil {
		return nil
	}
	return v.warn(ctx, obj)
}

// UpdateWarnings returns the warnings about a valid updated object: those of Warnings, and a policy
// without a binding. A new policy gets no warning about that, because it is usually created before
// its binding.
func (v Validator[Object]) UpdateWarnings(ctx context.Context, obj Object) []string {
	warnings := v.Warnings(ctx, obj)
	if v.warnUpdated != nil && obj.GetDeletionTimestamp() == nil {
		warnings = append(warnings, v.warnUpdated(ctx, obj)...)
	}
	return warnings
}

func enabledFeatures() policyspec.Features {
	return policyspec.FeaturesOf(utilfeature.DefaultFeatureGate)
}
