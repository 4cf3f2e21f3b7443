// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package storage keeps MutatingWebhookConfigurations in etcd.
package storage

import (
	"k8s.io/apiserver/pkg/registry/generic"
	upstream "k8s.io/kubernetes/pkg/registry/admissionregistration/mutatingwebhookconfiguration/storage"

	"celador.io/celador/pkg/registry/admissionregistration/mutatingwebhookconfiguration"
)

// NewREST returns upstream's storage with our Strategy for what is written. Errors
// are those of the getter.
func NewREST(getter generic.RESTOptionsGetter) (*upstream.REST, error) {
	storage, err := upstream.NewREST(getter)
	if err != nil {
		return nil, err
	}
	strategy := mutatingwebhookconfiguration.NewStrategy()
	storage.CreateStrategy, storage.UpdateStrategy = strategy, strategy
	return storage, nil
}
