// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package codecs

import (
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/registry/generic"

	"celador.io/apiextensions-apiserver/pkg/customresource/interning"
	"celador.io/apiextensions-apiserver/pkg/customresource/schemas"
)

// AsStored is a RESTOptionsGetter for the storage that all versions share if there are conversion
// rules: it holds custom resources in the versions in which they are stored. Its codec does not
// convert: it coerces and defaults a decoded object in the object's own version, and encodes an
// object in the version that it has. The objects of watch events, with which the watch cache is
// filled, share equal texts and managed fields.
type AsStored struct {
	// RESTOptionsGetter provides options with a codec of unstructured objects.
	generic.RESTOptionsGetter
	Schemas *schemas.Schemas
}

// GetRESTOptions implements generic.RESTOptionsGetter.
func (s AsStored) GetRESTOptions(resource schema.GroupResource, _ runtime.Object) (generic.RESTOptions, error) {
	options, err := s.RESTOptionsGetter.GetRESTOptions(resource, nil)
	if err != nil {
		return options, err
	}
	c := options.StorageConfig.Codec
	decoder := storageCodec(c, s.Schemas, unconverted{}, nil, nil, "customResourceAsStored")
	options.StorageConfig.Codec = runtime.NewCodec(c, interned{decoder})
	return options, nil
}

// interned is a decoder that lets the objects of watch events share equal texts and managed fields
// (package interning). That takes a twentieth of the time of a read, and pays only for objects that
// stay in the watch cache.
type interned struct{ runtime.Decoder }

// Decode implements runtime.Decoder.
func (i interned) Decode(data []byte, defaults *schema.GroupVersionKind, into runtime.Object) (runtime.Object, *schema.GroupVersionKind, error) {
	object, gvk, err := i.Decoder.Decode(data, defaults, into)
	// Only objects of watch events stay in the watch cache. To decode such an object, the storage
	// layer passes nil as into. For a request, it passes the object or list that is to be filled.
	if u, ok := object.(*unstructured.Unstructured); ok && err == nil && into == nil {
		interning.Intern(u.Object)
	}
	return object, gvk, err
}

// unconverted is a converter that leaves objects in their version.
type unconverted struct{}

// Convert implements runtime.ObjectConvertor.
func (unconverted) Convert(in, out, _ any) error {
	from, fromOK := in.(*unstructured.Unstructured)
	to, toOK := out.(*unstructured.Unstructured)
	if !fromOK || !toOK {
		return fmt.Errorf("cannot decode a %T into a %T", in, out)
	}
	to.Object = from.Object
	return nil
}

// ConvertToVersion implements runtime.ObjectConvertor.
func (unconverted) ConvertToVersion(in runtime.Object, _ runtime.GroupVersioner) (runtime.Object, error) {
	return in, nil
}

// ConvertFieldLabel implements runtime.ObjectConvertor.
func (unconverted) ConvertFieldLabel(_ schema.GroupVersionKind, label, value string) (string, string, error) {
	return label, value, nil
}
