// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package storage keeps ValidatingAdmissionPolicies in etcd.
package storage

import (
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/registry/generic"
	"k8s.io/apiserver/pkg/registry/generic/registry"

	"celador.io/celador/pkg/apis/admissionregistration"
	"celador.io/celador/pkg/registry/admissionregistration/paramaccess"
	"celador.io/celador/pkg/registry/admissionregistration/validatingadmissionpolicy"
)

// REST serves validatingadmissionpolicies, but for their status. Safe for
// concurrent use.
type REST struct {
	*registry.Store
}

// NewREST returns the storage of the resource and that of its status subresource,
// which share one store. They can serve any number of versions. The getter's codec
// has to know the internal kind. For params and types see NewStrategy of
// validatingadmissionpolicy. It returns an error when etcd cannot be set up.
func NewREST(getter generic.RESTOptionsGetter, params paramaccess.Checker, types validatingadmissionpolicy.TypeCheck) (*REST, *StatusREST, error) {
	strategy := validatingadmissionpolicy.NewStrategy(params, types)
	store := &registry.Store{
		NewFunc:                   func() runtime.Object { return &admissionregistration.ValidatingAdmissionPolicy{} },
		NewListFunc:               func() runtime.Object { return &admissionregistration.ValidatingAdmissionPolicyList{} },
		DefaultQualifiedResource:  admissionregistration.Resource("validatingadmissionpolicies"),
		SingularQualifiedResource: admissionregistration.Resource("validatingadmissionpolicy"),
		CreateStrategy:            strategy,
		UpdateStrategy:            strategy,
		DeleteStrategy:            strategy,
		ResetFieldsStrategy:       strategy,
		TableConvertor:            convertor,
	}
	if err := store.CompleteWithOptions(&generic.StoreOptions{RESTOptions: getter}); err != nil {
		return nil, nil, err
	}
	ofStatus := *store
	ofStatus.UpdateStrategy = validatingadmissionpolicy.StatusStrategy{Strategy: strategy}
	ofStatus.ResetFieldsStrategy = validatingadmissionpolicy.StatusStrategy{Strategy: strategy}
	return &REST{store}, &StatusREST{&ofStatus}, nil
}

// Categories returns the names by which kubectl selects this resource among others.
func (*REST) Categories() []string { return []string{"api-extensions"} }
