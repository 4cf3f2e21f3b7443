// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package rest

import (
	"fmt"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/registry/generic"
	serverstorage "k8s.io/apiserver/pkg/server/storage"
	basecompatibility "k8s.io/component-base/compatibility"

	"celador.io/celador/pkg/apis/admissionregistration"
	"celador.io/celador/pkg/registry/admissionregistration/scheme"
)

// codecGetter returns the server's storage options (etcd servers, key prefix, encryption, watch
// cache, object counts) with a codec for the policy kinds, which the server's scheme lacks. The
// codec writes the version that a stock server with the same effective version writes, so that
// either server can take over the other's etcd.
type codecGetter struct {
	server    generic.RESTOptionsGetter
	mediaType string
	effective basecompatibility.EffectiveVersion
}

// newCodecGetter returns a getter whose codecs write mediaType, a value of the flag
// --storage-media-type: empty means JSON. The codecs read every supported media type. A nil
// effective version stands for the preferred storage versions.
func newCodecGetter(server generic.RESTOptionsGetter, mediaType string, effective basecompatibility.EffectiveVersion) generic.RESTOptionsGetter {
	if mediaType == "" {
		mediaType = runtime.ContentTypeJSON
	}
	return codecGetter{server: server, mediaType: mediaType, effective: effective}
}

// GetRESTOptions implements generic.RESTOptionsGetter. example is an object of the stored kind. Its
// type tells which releases have the kind in which versions, and so the version in which it is
// stored. GetRESTOptions returns an error for an unsupported media type.
func (g codecGetter) GetRESTOptions(resource schema.GroupResource, example runtime.Object) (generic.RESTOptions, error) {
	// The server's own options get no example, because the server's scheme does not know its type.
	options, err := g.server.GetRESTOptions(resource, nil)
	if err != nil {
		return generic.RESTOptions{}, err
	}
	versions := serverstorage.NewDefaultResourceEncodingConfigForEffectiveVersion(scheme.Scheme, g.effective)
	stored, err := versions.BackwardCompatibileStorageEncodingFor(resource, example)
	if err != nil {
		return generic.RESTOptions{}, fmt.Errorf("storage version of %s: %w", resource, err)
	}
	codec := serverstorage.StorageCodecConfig{
		StorageMediaType:  g.mediaType,
		StorageSerializer: scheme.Codecs,
		StorageVersion:    stored,
		MemoryVersion:     admissionregistration.SchemeGroupVersion,
	}
	statusless := !HasMutatingStatus(g.effective)
	if statusless && g.mediaType == runtime.ContentTypeProtobuf {
		codec.EncoderDecoratorFn = func(encoder runtime.Encoder) runtime.Encoder { return statuslessProtobuf{encoder} }
	}
	config := *options.StorageConfig
	if config.Codec, config.EncodeVersioner, err = serverstorage.NewStorageCodec(codec); err != nil {
		return generic.RESTOptions{}, fmt.Errorf("storage codec of %s: %w", resource, err)
	}
	if statusless {
		config.Codec = statuslessCodec{config.Codec}
	}
	options.StorageConfig = &config
	return options, nil
}
