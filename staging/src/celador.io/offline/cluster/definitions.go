// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	upstream "k8s.io/apiextensions-apiserver/pkg/apiserver"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/registry/generic"
	"k8s.io/apiserver/pkg/registry/rest"
	genericapiserver "k8s.io/apiserver/pkg/server"

	"celador.io/apiextensions-apiserver/pkg/apis/apiextensions/scheme"
	"celador.io/apiextensions-apiserver/pkg/registry/customresourcedefinition"
)

// newDefinitionGroup returns the group of CustomResourceDefinitions.
func newDefinitionGroup(name string, options GroupOptions) (*genericapiserver.APIGroupInfo, error) {
	group := genericapiserver.NewDefaultAPIGroupInfo(name, scheme.Scheme, metav1.ParameterCodec, scheme.Codecs)
	crds, err := customresourcedefinition.NewREST(scheme.Scheme, definitionOptions{options.RESTOptions})
	if err != nil {
		return nil, err
	}
	const resource = "customresourcedefinitions"
	group.VersionedResourcesStorageMap[apiextensionsv1.SchemeGroupVersion.Version] = map[string]rest.Storage{
		resource:             crds,
		resource + "/status": customresourcedefinition.NewStatusREST(scheme.Scheme, crds),
	}
	return &group, nil
}

// definitionOptions provide the codec of Kubernetes' internal version, from which the registry of
// CustomResourceDefinitions makes its own.
type definitionOptions struct{ generic.RESTOptionsGetter }

// GetRESTOptions implements generic.RESTOptionsGetter.
func (o definitionOptions) GetRESTOptions(resource schema.GroupResource, example runtime.Object) (generic.RESTOptions, error) {
	options, err := o.RESTOptionsGetter.GetRESTOptions(resource, example)
	if err != nil {
		return options, err
	}
	config := *options.StorageConfig
	config.Codec = upstream.Codecs.LegacyCodec(apiextensionsv1.SchemeGroupVersion)
	options.StorageConfig = &config
	return options, nil
}
