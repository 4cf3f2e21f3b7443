// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	upstream "k8s.io/apiextensions-apiserver/pkg/apiserver"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/registry/rest"
	genericapiserver "k8s.io/apiserver/pkg/server"

	"celador.io/apiextensions-apiserver/pkg/apis/apiextensions/scheme"
	"celador.io/apiextensions-apiserver/pkg/registry/customresourcedefinition"
)

// installCRDs installs the API group apiextensions.k8s.io. The group is empty if --runtime-config
// disables customresourcedefinitions. It returns an error if the server has no OpenAPI v3
// configuration.
func installCRDs(generic *genericapiserver.GenericAPIServer, config *upstream.CompletedConfig) error {
	group := genericapiserver.NewDefaultAPIGroupInfo(apiextensions.GroupName, scheme.Scheme, metav1.ParameterCodec, scheme.Codecs)
	const resource = "customresourcedefinitions"
	if config.GenericConfig.MergedResourceConfig.ResourceEnabled(apiextensionsv1.SchemeGroupVersion.WithResource(resource)) {
		crds, err := customresourcedefinition.NewREST(scheme.Scheme, config.GenericConfig.RESTOptionsGetter)
		if err != nil {
			return err
		}
		group.VersionedResourcesStorageMap[apiextensionsv1.SchemeGroupVersion.Version] = map[string]rest.Storage{
			resource:             crds,
			resource + "/status": customresourcedefinition.NewStatusREST(scheme.Scheme, crds),
		}
	}
	return generic.InstallAPIGroup(&group)
}
