// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package customresourcedefinition

import (
	upstream "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/registry/generic"
)

// restOptions returns the server's storage options for CustomResourceDefinitions, whose codec is
// for Kubernetes' internal version, with a codec for ours.
type restOptions struct {
	server generic.RESTOptionsGetter
}

// GetRESTOptions implements generic.RESTOptionsGetter.
func (g restOptions) GetRESTOptions(resource schema.GroupResource, _ runtime.Object) (generic.RESTOptions, error) {
	// The server's scheme does not know the type of the example.
	options, err := g.server.GetRESTOptions(resource, &upstream.CustomResourceDefinition{})
	if err != nil {
		return generic.RESTOptions{}, err
	}
	config := *options.StorageConfig
	config.Codec = newStorageCodec(config.Codec)
	options.StorageConfig = &config
	return options, nil
}
