// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"context"

	"k8s.io/apimachinery/pkg/runtime/schema"
	listers "k8s.io/kube-aggregator/pkg/client/listers/apiregistration/v1"

	apiextensions "celador.io/apiextensions-apiserver/pkg/apiserver"
)

// localCustomResources opens the storages of custom resources that policies look up. It opens none
// for a version whose requests the aggregator proxies to another server, even if a
// CustomResourceDefinition has the version, too: clients then read the objects of the other server.
type localCustomResources struct {
	*apiextensions.StorageOpener
	apiServices listers.APIServiceLister
}

// Open implements storedobjects.StorageOpener.
func (l localCustomResources) Open(ctx context.Context, resource schema.GroupVersionResource) (*apiextensions.OpenedStorage, error) {
	// While there is no APIService, the aggregator delegates requests.
	if service, err := l.apiServices.Get(resource.Version + "." + resource.Group); err == nil && service.Spec.Service != nil {
		return nil, nil
	}
	return l.StorageOpener.Open(ctx, resource)
}
