// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package builtin provides the API types of kube-apiserver to a cluster without a server.
package builtin

import (
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/client-go/applyconfigurations"
	"k8s.io/kubernetes/pkg/controlplane"

	"celador.io/offline/cluster"

	"celador.io/celador/pkg/kubeapiserver/builtintypes"
)

// Types are the API groups of kube-apiserver with the resources and versions that it serves by default.
var Types cluster.Types = types{}

type types struct{}

// Group implements cluster.Types.
func (types) Group(name string, options cluster.GroupOptions) (*genericapiserver.APIGroupInfo, error) {
	newProvider, ok := providers[name]
	if !ok {
		return nil, nil
	}
	group, err := newProvider(options).NewRESTStorage(controlplane.DefaultAPIResourceConfigSource(), options.RESTOptions)
	if err != nil {
		return nil, err
	}
	return &group, nil
}

// GetTypeConverter implements mutating.TypeConverters. The converter is nil for kinds that are not built in.
func (types) GetTypeConverter(kind schema.GroupVersionKind) managedfields.TypeConverter {
	if !builtintypes.Scheme().Recognizes(kind) {
		return nil
	}
	return converter()
}

// converter parses the schemas of all built-in types once, which takes a while.
var converter = sync.OnceValue(func() managedfields.TypeConverter {
	return applyconfigurations.NewTypeConverter(builtintypes.Scheme())
})
