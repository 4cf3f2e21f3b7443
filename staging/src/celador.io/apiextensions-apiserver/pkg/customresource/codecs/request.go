// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package codecs encodes and decodes custom resources in requests, responses and storage.
package codecs

import (
	"slices"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/runtime/serializer/cbor"
	"k8s.io/apimachinery/pkg/runtime/serializer/json"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/apimachinery/pkg/runtime/serializer/versioning"
	"k8s.io/apiserver/pkg/features"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/client-go/scale"

	"celador.io/apiextensions-apiserver/pkg/apis/apiextensions/scheme"
	"celador.io/apiextensions-apiserver/pkg/customresource/schemas"
)

// Serializer negotiates the encoding of requests for custom resources. It implements
// runtime.NegotiatedSerializer.
type Serializer struct {
	converter  runtime.ObjectConvertor
	schemas    *schemas.Schemas
	mediaTypes []runtime.SerializerInfo
}

// NewSerializer returns a serializer that prunes, coerces and defaults request bodies with the
// schemas, and converts responses with the converter to the version of the request.
func NewSerializer(typer Typer, converter runtime.ObjectConvertor, schemas *schemas.Schemas) Serializer {
	return Serializer{converter: converter, schemas: schemas, mediaTypes: mediaTypes(typer)}
}

// SupportedMediaTypes implements runtime.NegotiatedSerializer.
func (s Serializer) SupportedMediaTypes() []runtime.SerializerInfo { return s.mediaTypes }

// ResourceMediaTypes returns the media types of custom resources themselves. Protobuf is not among
// them; it is only for Status, Table and PartialObjectMetadata.
func (s Serializer) ResourceMediaTypes() []runtime.SerializerInfo {
	return slices.DeleteFunc(slices.Clone(s.mediaTypes), func(info runtime.SerializerInfo) bool {
		return info.MediaType == runtime.ContentTypeProtobuf
	})
}

// EncoderForVersion implements runtime.NegotiatedSerializer.
func (s Serializer) EncoderForVersion(encoder runtime.Encoder, gv runtime.GroupVersioner) runtime.Encoder {
	return versioning.NewCodec(encoder, nil, s.converter, scheme.Scheme, scheme.Scheme, scheme.Scheme, gv, nil, "customResourceResponse")
}

// DecoderToVersion implements runtime.NegotiatedSerializer. The decoder reports unknown fields only
// if the given one is strict.
func (s Serializer) DecoderToVersion(decoder runtime.Decoder, gv runtime.GroupVersioner) runtime.Decoder {
	// As in Kubernetes, field validation does not apply to CBOR: unknown fields are dropped without
	// an error or warning. Only the JSON decoder tells whether it is strict.
	jsonDecoder, ok := decoder.(*json.Serializer)
	coercion := schemas.Coercion{ReportUnknownFields: ok && jsonDecoder.IsStrict()}

	// The codec converts and defaults the options of a request with the scheme, and leaves custom
	// resources alone.
	return versioning.NewCodec(nil, s.schemas.Decoder(decoder, coercion), runtime.UnsafeObjectConvertor(scheme.Scheme),
		scheme.Scheme, scheme.Scheme, s.schemas.Defaulter(scheme.Scheme), nil, gv, "customResourceRequest")
}

func mediaTypes(typer Typer) []runtime.SerializerInfo {
	newJSON := func(o json.SerializerOptions) runtime.Serializer {
		return json.NewSerializerWithOptions(json.DefaultMetaFactory, Creater{}, typer, o)
	}
	protobufSerializer := protobuf.NewSerializerWithOptions(Creater{}, typer, protobuf.SerializerOptions{StreamingCollectionsEncoding: true})
	infos := []runtime.SerializerInfo{
		{
			MediaType: runtime.ContentTypeJSON, MediaTypeType: "application", MediaTypeSubType: "json",
			EncodesAsText:    true,
			Serializer:       newJSON(json.SerializerOptions{StreamingCollectionsEncoding: true}),
			PrettySerializer: newJSON(json.SerializerOptions{Pretty: true}),
			StrictSerializer: newJSON(json.SerializerOptions{Strict: true, StreamingCollectionsEncoding: true}),
			StreamSerializer: &runtime.StreamSerializerInfo{
				EncodesAsText: true,
				Serializer:    newJSON(json.SerializerOptions{}),
				Framer:        json.Framer,
			},
		},
		{
			MediaType: runtime.ContentTypeYAML, MediaTypeType: "application", MediaTypeSubType: "yaml",
			EncodesAsText:    true,
			Serializer:       newJSON(json.SerializerOptions{Yaml: true}),
			StrictSerializer: newJSON(json.SerializerOptions{Yaml: true, Strict: true}),
		},
		{
			MediaType: runtime.ContentTypeProtobuf, MediaTypeType: "application", MediaTypeSubType: "vnd.kubernetes.protobuf",
			Serializer: protobufSerializer,
			// Bodies in protobuf are refused. Without a strict serializer, field validation makes
			// upstream's server panic.
			StrictSerializer: protobufSerializer,
			StreamSerializer: &runtime.StreamSerializerInfo{
				Serializer: protobuf.NewRawSerializer(Creater{}, typer),
				Framer:     protobuf.LengthDelimitedFramer,
			},
		},
	}
	if utilfeature.DefaultFeatureGate.Enabled(features.CBORServingAndStorage) {
		infos = append(infos, cbor.NewSerializerInfo(Creater{}, typer))
	}
	return infos
}

var _ runtime.NegotiatedSerializer = Serializer{}

// NewScaleSerializer returns a serializer of Scale objects, which have Go types. Serializer is for
// unstructured objects.
func NewScaleSerializer() runtime.NegotiatedSerializer {
	options := []serializer.CodecFactoryOptionsMutator{
		serializer.WithStreamingCollectionEncodingToJSON(),
		serializer.WithStreamingCollectionEncodingToProtobuf(),
	}
	if utilfeature.DefaultFeatureGate.Enabled(features.CBORServingAndStorage) {
		options = append(options, serializer.WithSerializer(cbor.NewSerializerInfo))
	}
	return serializer.NewCodecFactory(scale.NewScaleConverter().Scheme(), options...)
}
