// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package rest

import (
	"fmt"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/registry/generic"
	serverstorage "k8s.io/apiserver/pkg/server/storage"

	v1 "celador.io/api/admissionregistration/v1"
	"celador.io/celador/pkg/apis/admissionregistration"
	"celador.io/celador/pkg/registry/admissionregistration/scheme"
)

// codecGetter gives what the server's own getter gives (etcd servers, key prefix,
// encryption, watch cache, object counts) with a codec that knows the policy
// kinds. They are stored in v1, whatever version the server emulates, as stock
// servers store them: either can take over the other's etcd.
type codecGetter struct {
	server    generic.RESTOptionsGetter
	codec     runtime.Codec
	versioner runtime.GroupVersioner
}

// newCodecGetter returns a getter that writes the media type; as for the flag
// --storage-media-type, empty means JSON. It reads every supported media type.
// It returns an error for a media type that is not supported.
func newCodecGetter(server generic.RESTOptionsGetter, mediaType string) (generic.RESTOptionsGetter, error) {
	if mediaType == "" {
		mediaType = runtime.ContentTypeJSON
	}
	codec, versioner, err := serverstorage.NewStorageCodec(serverstorage.StorageCodecConfig{
		StorageMediaType:  mediaType,
		StorageSerializer: scheme.Codecs,
		StorageVersion:    v1.SchemeGroupVersion,
		MemoryVersion:     admissionregistration.SchemeGroupVersion,
	})
	if err != nil {
		return nil, fmt.Errorf("storage codec of group %s: %w", admissionregistration.GroupName, err)
	}
	return codecGetter{server: server, codec: codec, versioner: versioner}, nil
}

// GetRESTOptions asks the server without an example object, since its scheme would
// not know the type.
func (g codecGetter) GetRESTOptions(resource schema.GroupResource, _ runtime.Object) (generic.RESTOptions, error) {
	options, err := g.server.GetRESTOptions(resource, nil)
	if err != nil {
		return generic.RESTOptions{}, err
	}
	config := *options.StorageConfig
	config.Codec, config.EncodeVersioner = g.codec, g.versioner
	options.StorageConfig = &config
	return options, nil
}
