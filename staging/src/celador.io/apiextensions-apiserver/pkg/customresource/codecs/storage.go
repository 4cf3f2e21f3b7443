// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package codecs

import (
	"k8s.io/apiextensions-apiserver/pkg/crdserverscheme"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer/versioning"
	"k8s.io/apiserver/pkg/registry/generic"

	"celador.io/apiextensions-apiserver/pkg/apis/apiextensions/scheme"
	"celador.io/apiextensions-apiserver/pkg/customresource/schemas"
)

// StorageOptionsGetter is a RESTOptionsGetter for one served version of custom resources. Its codec
// decodes objects that are stored in any version, converts them to Served, and encodes them in
// Stored.
type StorageOptionsGetter struct {
	// RESTOptionsGetter provides options with a codec of unstructured objects.
	generic.RESTOptionsGetter
	// Encoding and Decoding convert between the versions and coerce their results. Encoding must
	// not change its input. Decoding may, because no one else has an object that was just decoded.
	Encoding, Decoding runtime.ObjectConvertor
	Schemas            *schemas.Schemas
	// Served is the version that decoded objects have, and Stored the version in which they are
	// encoded.
	Served, Stored schema.GroupVersion
}

// GetRESTOptions implements generic.RESTOptionsGetter.
func (s StorageOptionsGetter) GetRESTOptions(resource schema.GroupResource, _ runtime.Object) (generic.RESTOptions, error) {
	options, err := s.RESTOptionsGetter.GetRESTOptions(resource, nil)
	if err != nil {
		return options, err
	}
	options.StorageConfig.Codec = s.codec(options.StorageConfig.Codec)
	return options, nil
}

// codec returns a codec that coerces and defaults a stored object in its own version before the
// conversion, because conversion webhooks expect pruned and defaulted objects.
func (s StorageOptionsGetter) codec(c runtime.Codec) runtime.Codec {
	with := func(converter runtime.ObjectConvertor) runtime.Codec {
		return storageCodec(c, s.Schemas, converter, s.Stored, s.Served, "customResourceStorage")
	}
	return runtime.NewCodec(with(s.Encoding), with(s.Decoding))
}

// storageCodec returns a codec that converts with the converter after it has decoded, coerced and
// defaulted an object with c, and before it encodes one. The name identifies the codec.
func storageCodec(c runtime.Codec, s *schemas.Schemas, converter runtime.ObjectConvertor, encode, decode runtime.GroupVersioner, name string) runtime.Codec {
	return versioning.NewCodec(c, s.Decoder(c, schemas.Coercion{Repair: true}), converter, Creater{}, crdserverscheme.NewUnstructuredObjectTyper(),
		s.Defaulter(scheme.Scheme), encode, decode, name)
}
