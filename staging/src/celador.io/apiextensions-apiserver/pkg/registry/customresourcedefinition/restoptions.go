// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package customresourcedefinition

import (
	upstream "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	"k8s.io/apiserver/pkg/registry/generic"
)

// restOptions returns the server's storage options for CustomResourceDefinitions, whose codec is
// for Kubernetes' internal version, with a codec for ours.
func restOptions(server generic.RESTOptionsGetter) (generic.RESTOptions, error) {
	// The server's scheme does not know our internal version.
	options, err := server.GetRESTOptions(resource, &upstream.CustomResourceDefinition{})
	if err != nil {
		return options, err
	}
	config := *options.StorageConfig
	config.Codec = newStorageCodec(config.Codec)
	options.StorageConfig = &config
	return options, nil
}
