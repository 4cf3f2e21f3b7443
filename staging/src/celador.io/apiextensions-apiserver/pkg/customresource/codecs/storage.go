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

// Storage provides the REST options of one version of custom resources. Objects are converted
// from the version in which they are stored, which may be any, to the served version, and back to
// the storage version.
type Storage struct {
	// RESTOptionsGetter provides options with a codec of unstructured objects.
	generic.RESTOptionsGetter
	// Converter converts between the versions. It must not change its input.
	Converter runtime.ObjectConvertor
	Schemas   *schemas.Schemas
	// Served is the version of objects in memory, Stored the version in which they are stored.
	Served, Stored schema.GroupVersion
}

// GetRESTOptions implements generic.RESTOptionsGetter.
func (s Storage) GetRESTOptions(resource schema.GroupResource, _ runtime.Object) (generic.RESTOptions, error) {
	options, err := s.RESTOptionsGetter.GetRESTOptions(resource, nil)
	if err != nil {
		return options, err
	}
	options.StorageConfig.Codec = s.codec(options.StorageConfig.Codec)
	return options, nil
}

// codec coerces and defaults objects in the version in which they are stored, before conversion, so that
// converters only see objects that conform to a schema.
func (s Storage) codec(c runtime.Codec) runtime.Codec {
	return versioning.NewCodec(c,
		s.Schemas.Decoder(c, schemas.Coercion{Repair: true}),
		s.Schemas.Converter(s.Converter),
		Creater{}, crdserverscheme.NewUnstructuredObjectTyper(),
		s.Schemas.Defaulter(scheme.Scheme),
		s.Stored, s.Served, "customResourceStorage")
}
