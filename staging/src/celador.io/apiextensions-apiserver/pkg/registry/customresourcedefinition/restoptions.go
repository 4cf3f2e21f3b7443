// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package customresourcedefinition

import (
	upstream "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	"k8s.io/apiserver/pkg/registry/generic"
)

// restOptions returns the server's storage options for CustomResourceDefinitions. It replaces their
// codec, which is for Kubernetes' internal version, by one for Celador's.
func restOptions(server generic.RESTOptionsGetter) (generic.RESTOptions, error) {
	// The server's scheme does not know Celador's internal version, so the options are those for
	// Kubernetes' type.
	options, err := server.GetRESTOptions(resource, &upstream.CustomResourceDefinition{})
	if err != nil {
		return options, err
	}
	config := *options.StorageConfig
	config.Codec = newStorageCodec(config.Codec)
	options.StorageConfig = &config
	return options, nil
}
