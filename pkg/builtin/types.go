// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package builtin provides the API types of kube-apiserver to a cluster without a server.
package builtin

import (
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	genericapiserver "k8s.io/apiserver/pkg/server"
	serverstorage "k8s.io/apiserver/pkg/server/storage"
	"k8s.io/client-go/applyconfigurations"
	"k8s.io/kube-openapi/pkg/validation/spec"
	"k8s.io/kubernetes/pkg/controlplane"

	"celador.io/offline/cluster"

	"celador.io/celador/pkg/kubeapiserver/builtintypes"
)

// Types are the API groups of kube-apiserver with the resources that it serves by default.
var Types cluster.Types = &types{}

type types struct {
	// converters maps kinds to functions that return their type converters.
	converters sync.Map
}

// Group implements cluster.Types.
func (*types) Group(name string, options cluster.GroupOptions) (*genericapiserver.APIGroupInfo, error) {
	applySettings()
	newProvider, ok := providers[name]
	if !ok {
		return nil, nil
	}
	group, err := newProvider(options).NewRESTStorage(served(), options.RESTOptions)
	if err != nil {
		return nil, err
	}
	return &group, nil
}

// served returns the resources that kube-apiserver serves by default.
func served() *serverstorage.ResourceConfig { return controlplane.DefaultAPIResourceConfigSource() }

// GetTypeConverter implements mutating.TypeConverters. The converter is nil for kinds that are not built in.
func (t *types) GetTypeConverter(kind schema.GroupVersionKind) managedfields.TypeConverter {
	if !builtintypes.Scheme().Recognizes(kind) {
		return nil
	}
	once, _ := t.converters.LoadOrStore(kind, sync.OnceValue(func() managedfields.TypeConverter { return newConverter(kind) }))
	return once.(func() managedfields.TypeConverter)()
}

// newConverter returns the converter of a kind. To parse the schemas of all kinds takes most of a second, so it
// resolves only those that the kind needs.
func newConverter(kind schema.GroupVersionKind) managedfields.TypeConverter {
	resolved, err := builtintypes.Schemas.ResolveSchema(kind)
	if err != nil {
		return applyconfigurations.NewTypeConverter(builtintypes.Scheme())
	}
	model := *resolved
	model.AddExtension("x-kubernetes-group-version-kind", []any{
		map[string]any{"group": kind.Group, "version": kind.Version, "kind": kind.Kind},
	})
	converter, err := managedfields.NewTypeConverter(map[string]*spec.Schema{kind.Kind: &model}, false)
	if err != nil {
		return applyconfigurations.NewTypeConverter(builtintypes.Scheme())
	}
	return converter
}
