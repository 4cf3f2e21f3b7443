// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package storage keeps ValidatingAdmissionPolicyBindings in etcd.
package storage

import (
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/registry/generic"
	"k8s.io/apiserver/pkg/registry/generic/registry"

	"celador.io/celador/pkg/apis/admissionregistration"
	"celador.io/celador/pkg/registry/admissionregistration/paramaccess"
	"celador.io/celador/pkg/registry/admissionregistration/validatingadmissionpolicybinding"
)

// REST serves validatingadmissionpolicybindings. Safe for concurrent use.
type REST struct {
	*registry.Store
}

// NewREST returns the storage of the resource, which can serve any number of
// versions. The getter's codec has to know the internal kind; policies reads bound
// policies. It returns an error when etcd cannot be set up.
func NewREST(getter generic.RESTOptionsGetter, params paramaccess.Checker, policies validatingadmissionpolicybinding.PolicyGetter) (*REST, error) {
	strategy := validatingadmissionpolicybinding.NewStrategy(params, policies)
	store := &registry.Store{
		NewFunc:                   func() runtime.Object { return &admissionregistration.ValidatingAdmissionPolicyBinding{} },
		NewListFunc:               func() runtime.Object { return &admissionregistration.ValidatingAdmissionPolicyBindingList{} },
		DefaultQualifiedResource:  admissionregistration.Resource("validatingadmissionpolicybindings"),
		SingularQualifiedResource: admissionregistration.Resource("validatingadmissionpolicybinding"),
		CreateStrategy:            strategy,
		UpdateStrategy:            strategy,
		DeleteStrategy:            strategy,
		TableConvertor:            convertor,
	}
	if err := store.CompleteWithOptions(&generic.StoreOptions{RESTOptions: getter}); err != nil {
		return nil, err
	}
	return &REST{store}, nil
}

// Categories returns the names by which kubectl selects this resource among others.
func (*REST) Categories() []string { return []string{"api-extensions"} }
