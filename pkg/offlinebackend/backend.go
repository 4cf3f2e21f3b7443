// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package offlinebackend lets clusters of celador.io/offline stand for a kube-apiserver: it has the
// API groups, admission plugins, roles, feature gates and schemas of one.
package offlinebackend

import (
	"k8s.io/apiserver/pkg/cel/openapi/resolver"
	genericapiserver "k8s.io/apiserver/pkg/server"
	serverstorage "k8s.io/apiserver/pkg/server/storage"
	"k8s.io/kubernetes/pkg/controlplane"

	"celador.io/offline/cluster"

	"celador.io/celador/pkg/kubeapiserver/builtintypes"
)

// KubeAPIServer is the backend with the resources that kube-apiserver serves by default.
var KubeAPIServer cluster.Backend = backend{builtintypes.Schemas}

type backend struct{ resolver.SchemaResolver }

// Group implements cluster.Backend.
func (backend) Group(name string, options cluster.GroupOptions) (*genericapiserver.APIGroupInfo, error) {
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
