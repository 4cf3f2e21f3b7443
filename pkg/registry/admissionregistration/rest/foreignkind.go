// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package rest

import (
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/runtime/serializer/cbor"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
)

// foreignKinds is a serializer that also decodes request bodies of kinds that the group's
// scheme lacks: kinds of other groups, and other versions of this group. Decoding them makes
// the request fail with Kubernetes' error, that the body cannot be converted to the kind of the
// resource. The error of the group's scheme would name the scheme instead.
type foreignKinds struct {
	runtime.NegotiatedSerializer
	// decoders maps each decoder of the group to the decoder of Kubernetes' scheme for the same
	// media type.
	decoders map[runtime.Decoder]runtime.Decoder
}

func newForeignKinds(group runtime.NegotiatedSerializer) foreignKinds {
	all := serializer.NewCodecFactory(legacyscheme.Scheme, serializer.WithSerializer(cbor.NewSerializerInfo)).SupportedMediaTypes()
	decoders := map[runtime.Decoder]runtime.Decoder{}
	for _, ours := range group.SupportedMediaTypes() {
		if theirs, ok := runtime.SerializerInfoForMediaType(all, ours.MediaType); ok {
			decoders[ours.Serializer], decoders[ours.StrictSerializer] = theirs.Serializer, theirs.StrictSerializer
		}
	}
	return foreignKinds{group, decoders}
}

// DecoderToVersion implements runtime.NegotiatedSerializer.
func (s foreignKinds) DecoderToVersion(decoder runtime.Decoder, version runtime.GroupVersioner) runtime.Decoder {
	ours, theirs := s.NegotiatedSerializer.DecoderToVersion(decoder, version), s.decoders[decoder]
	if theirs == nil {
		return ours
	}
	return foreignKindDecoder{ours, theirs}
}

type foreignKindDecoder struct {
	runtime.Decoder
	kubernetes runtime.Decoder
}

// Decode implements runtime.Decoder.
func (d foreignKindDecoder) Decode(data []byte, defaults *schema.GroupVersionKind, into runtime.Object) (runtime.Object, *schema.GroupVersionKind, error) {
	obj, gvk, err := d.Decoder.Decode(data, defaults, into)
	if into == nil || !runtime.IsNotRegisteredError(err) {
		return obj, gvk, err
	}
	foreign, _, err := d.kubernetes.Decode(data, gvk, nil)
	if foreign == nil {
		return nil, gvk, err
	}
	legacyscheme.Scheme.Default(foreign)
	if err := legacyscheme.Scheme.Convert(foreign, into, nil); err != nil {
		return nil, gvk, err
	}
	return into, gvk, err // nil, or a strict decoding error
}
