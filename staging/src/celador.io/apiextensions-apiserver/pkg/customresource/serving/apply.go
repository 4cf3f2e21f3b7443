// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package serving

import (
	"context"
	"errors"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/endpoints/handlers"
	"k8s.io/apiserver/pkg/registry/rest"
)

// newApply returns a function for VersionEndpoints.Apply or VersionEndpoints.ApplyStatus, from the
// storage and the scope of the resource or its status. reset holds the fields that a write resets,
// so that managers do not own them. rules is nil if no conversion rules are evaluated: the function
// then returns the same storage and scope for all requests. Otherwise each request gets an
// applyConverter of its own, which remembers its objects.
func newApply(storage rest.Patcher, scope *handlers.RequestScope, types managedfields.TypeConverter, rules *rulesConverter, reset resetFields) func() (rest.Patcher, *handlers.RequestScope, error) {
	if rules == nil {
		return func() (rest.Patcher, *handlers.RequestScope, error) { return storage, scope, nil }
	}
	return func() (rest.Patcher, *handlers.RequestScope, error) {
		converter := &applyConverter{rulesConverter: rules, defaulter: scope.Defaulter}
		converter.reset()
		own, err := managed(*scope, types, converter, reset)
		return applyStorage{storage, converter, scope.Kind.GroupKind()}, own, err
	}
}

// An applyStorage is the storage for one server-side apply, whose field managers use converter. If
// a conversion fails, the request fails with an Invalid error; see appliedObject.
type applyStorage struct {
	rest.Patcher
	converter *applyConverter
	kind      schema.GroupKind
}

// Update implements rest.Updater.
func (s applyStorage) Update(ctx context.Context, name string, info rest.UpdatedObjectInfo, createValidation rest.ValidateObjectFunc, updateValidation rest.ValidateObjectUpdateFunc, forceAllowCreate bool, options *metav1.UpdateOptions) (runtime.Object, bool, error) {
	return s.Patcher.Update(ctx, name, appliedObject{info, s, name}, createValidation, updateValidation, forceAllowCreate, options)
}

// An appliedObject is the object that a server-side apply writes. If conversion rules fail for it,
// it returns an Invalid error, so that the client learns which field is wrong. Field managers turn
// the errors of converters into text, so the failure is taken from applyConverter.refusal.
type appliedObject struct {
	rest.UpdatedObjectInfo
	storage applyStorage
	name    string
}

// UpdatedObject implements rest.UpdatedObjectInfo.
func (o appliedObject) UpdatedObject(ctx context.Context, old runtime.Object) (runtime.Object, error) {
	converter := o.storage.converter
	converter.reset()
	updated, err := o.UpdatedObjectInfo.UpdatedObject(ctx, old)
	var status apierrors.APIStatus
	if err == nil || converter.refusal == nil || errors.As(err, &status) {
		return updated, err
	}
	return nil, apierrors.NewInvalid(o.storage.kind, o.name, field.ErrorList{unconvertible(converter.refusal)})
}
