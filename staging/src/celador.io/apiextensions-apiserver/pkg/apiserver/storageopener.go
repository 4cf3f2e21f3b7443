// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"context"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/generic/registry"
)

// A StorageOpener gives readers in the process of the server access to the storages from which it
// serves custom resources. It is safe for concurrent use once the server runs.
type StorageOpener struct{ handler *handler }

// An OpenedStorage holds the custom resources of one version.
type OpenedStorage struct {
	// Store reads the objects in the version. Objects that come from a watch cache must not be
	// changed.
	Store *registry.Store
	// Outdated is closed when the CustomResourceDefinition changes or is deleted. Store works for a
	// second after that, or longer if requests use it.
	Outdated <-chan struct{}
}

// Open returns the storage of custom resources in a version, or nil if the server does not serve
// them. It opens the storage unless a request has opened it already, and returns an error if it
// cannot.
func (s *StorageOpener) Open(ctx context.Context, resource schema.GroupVersionResource) (*OpenedStorage, error) {
	info := &request.RequestInfo{Verb: "watch", APIGroup: resource.Group, APIVersion: resource.Version, Resource: resource.Resource}
	_, found, err := s.handler.find(ctx, info)
	if err != nil || found == nil {
		return nil, err
	}
	return &OpenedStorage{Store: found.Version(resource.Version).Storage.CustomResource.Store, Outdated: found.Outdated()}, nil
}
