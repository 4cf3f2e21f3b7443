// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package v1_test

import (
	"fmt"
	"math/rand"
	"testing"

	v1 "celador.io/api/apiextensions/v1"
	"github.com/google/go-cmp/cmp"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	upstreamfuzzer "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/fuzzer"
	upstreamv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/apitesting/fuzzer"
	"k8s.io/apimachinery/pkg/api/equality"
	metafuzzer "k8s.io/apimachinery/pkg/apis/meta/fuzzer"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/runtime/serializer/cbor"
	"sigs.k8s.io/randfill"

	conversions "celador.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

const definitions = 300

var mediaTypes = []string{runtime.ContentTypeJSON, runtime.ContentTypeYAML, runtime.ContentTypeProtobuf, runtime.ContentTypeCBOR}

// A random definition has the same bytes as Kubernetes' type in every encoding, whether it is
// decoded from them or converted.
func TestEncodingsOfKubernetes(t *testing.T) {
	ours, theirs := codecs(t, v1.AddToScheme), codecs(t, upstreamv1.AddToScheme)
	for seed := range int64(definitions) {
		want := randomDefinition(t, seed)
		var converted v1.CustomResourceDefinition
		if err := conversions.Convert_upstream_CustomResourceDefinition_To_v1_CustomResourceDefinition(want, &converted, nil); err != nil {
			t.Fatal(err)
		}
		converted.TypeMeta = want.TypeMeta
		for _, mediaType := range mediaTypes {
			wire := encode(t, theirs, mediaType, want)
			decoded := decode(t, ours, mediaType, wire)
			if got := encode(t, ours, mediaType, decoded); got != wire {
				t.Fatalf("seed %d, %s: decoded and encoded again (-want +got):\n%s", seed, mediaType, cmp.Diff(wire, got))
			}
			if got := encode(t, ours, mediaType, &converted); got != wire {
				t.Fatalf("seed %d, %s: converted (-want +got):\n%s", seed, mediaType, cmp.Diff(wire, got))
			}
		}
		var back upstreamv1.CustomResourceDefinition
		if err := conversions.Convert_v1_CustomResourceDefinition_To_upstream_CustomResourceDefinition(&converted, &back, nil); err != nil {
			t.Fatal(err)
		}
		back.TypeMeta = want.TypeMeta
		if !equality.Semantic.DeepEqual(want, &back) {
			t.Fatalf("seed %d: converted back (-want +got):\n%s", seed, cmp.Diff(want, &back))
		}
		if copied := converted.DeepCopy(); !equality.Semantic.DeepEqual(copied, &converted) {
			t.Fatalf("seed %d: copied (-want +got):\n%s", seed, cmp.Diff(&converted, copied))
		}
	}
}

// randomDefinition returns a CustomResourceDefinition without our fields.
func randomDefinition(t *testing.T, seed int64) *upstreamv1.CustomResourceDefinition {
	t.Helper()
	scheme := runtime.NewScheme()
	functions := fuzzer.MergeFuzzerFuncs(metafuzzer.Funcs, upstreamfuzzer.Funcs)
	var internal apiextensions.CustomResourceDefinition
	fuzzer.FuzzerFor(functions, rand.NewSource(seed), serializer.NewCodecFactory(scheme)).Fill(&internal)
	var definition upstreamv1.CustomResourceDefinition
	if err := upstreamv1.Convert_apiextensions_CustomResourceDefinition_To_v1_CustomResourceDefinition(&internal, &definition, nil); err != nil {
		t.Fatal(err)
	}
	definition.SetGroupVersionKind(v1.SchemeGroupVersion.WithKind("CustomResourceDefinition"))
	return &definition
}

// A conversion review has the bytes of Kubernetes' type as well.
func TestEncodingsOfReviews(t *testing.T) {
	ours, theirs := codecs(t, v1.AddToScheme), codecs(t, upstreamv1.AddToScheme)
	filler := fuzzer.FuzzerFor(fuzzer.MergeFuzzerFuncs(metafuzzer.Funcs, func(serializer.CodecFactory) []any {
		return []any{func(raw *runtime.RawExtension, random randfill.Continue) {
			raw.Raw = fmt.Appendf(nil, `{"spec":{"size":%d}}`, random.Int31())
		}}
	}), rand.NewSource(1), serializer.NewCodecFactory(runtime.NewScheme()))
	for range definitions {
		var want upstreamv1.ConversionReview
		filler.Fill(&want)
		want.SetGroupVersionKind(v1.SchemeGroupVersion.WithKind("ConversionReview"))
		for _, mediaType := range mediaTypes {
			wire := encode(t, theirs, mediaType, &want)
			if got := encode(t, ours, mediaType, decode(t, ours, mediaType, wire)); got != wire {
				t.Fatalf("%s (-want +got):\n%s", mediaType, cmp.Diff(wire, got))
			}
		}
	}
}

// Our fields are kept in every encoding. Kubernetes' types skip them in protobuf and lack them
// after a conversion.
func TestOwnFields(t *testing.T) {
	definition := func(rules []v1.DefaultRule, converters []v1.Converter) *v1.CustomResourceDefinition {
		made := &v1.CustomResourceDefinition{}
		made.SetGroupVersionKind(v1.SchemeGroupVersion.WithKind("CustomResourceDefinition"))
		made.Spec.Conversion = &v1.CustomResourceConversion{Strategy: v1.ConversionRules, Converters: converters}
		made.Spec.Versions = []v1.CustomResourceDefinitionVersion{{Name: "v1", Schema: &v1.CustomResourceValidation{
			OpenAPIV3Schema: &v1.JSONSchemaProps{
				Properties: map[string]v1.JSONSchemaProps{"spec": {XDefault: rules}},
				Items:      &v1.JSONSchemaPropsOrArray{Schema: &v1.JSONSchemaProps{XDefault: rules}},
			},
		}}}
		return made
	}
	full := definition(
		[]v1.DefaultRule{{Rule: "self.name", Field: "title"}, {Rule: "1"}},
		[]v1.Converter{
			{FromVersion: "v1", ToVersion: "v2", Rules: []v1.ConversionRule{{Field: "spec.size", Scope: "spec.items[*]", Rule: "self.count"}, {Rule: "self"}}},
			{FromVersion: "v2", ToVersion: "v1", Variables: []v1.ConversionVariable{{Name: "a", Expression: "self"}, {Name: "b", Expression: "variables.a"}}},
		})
	full.Spec.Conversion.Tables = []v1.ConversionTable{{Name: "sizes", Map: map[string]string{"small": "S", "": "none"}}, {Name: "empty"}}
	plain := definition(nil, nil)
	ours, theirs := codecs(t, v1.AddToScheme), codecs(t, upstreamv1.AddToScheme)
	for _, mediaType := range mediaTypes {
		wire := encode(t, ours, mediaType, full)
		if diff := cmp.Diff(full, decode(t, ours, mediaType, wire)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", mediaType, diff)
		}
		if diff := cmp.Diff(full, full.DeepCopy()); diff != "" {
			t.Errorf("copied (-want +got):\n%s", diff)
		}
	}
	skipped := decode(t, theirs, runtime.ContentTypeProtobuf, encode(t, ours, runtime.ContentTypeProtobuf, full))
	if diff := cmp.Diff(encode(t, ours, runtime.ContentTypeProtobuf, plain), encode(t, theirs, runtime.ContentTypeProtobuf, skipped)); diff != "" {
		t.Errorf("protobuf of Kubernetes' type (-want +got):\n%s", diff)
	}
	var converted upstreamv1.CustomResourceDefinition
	if err := conversions.Convert_v1_CustomResourceDefinition_To_upstream_CustomResourceDefinition(full, &converted, nil); err != nil {
		t.Fatal(err)
	}
	converted.TypeMeta = full.TypeMeta
	if diff := cmp.Diff(encode(t, ours, runtime.ContentTypeJSON, plain), encode(t, theirs, runtime.ContentTypeJSON, &converted)); diff != "" {
		t.Errorf("converted (-want +got):\n%s", diff)
	}
}

// codecs returns strict codecs for the types that addToScheme registers.
func codecs(t *testing.T, addToScheme func(*runtime.Scheme) error) serializer.CodecFactory {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := addToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	return serializer.NewCodecFactory(scheme, serializer.EnableStrict, serializer.WithSerializer(cbor.NewSerializerInfo))
}

func serializerOf(t *testing.T, codecs serializer.CodecFactory, mediaType string) runtime.Serializer {
	t.Helper()
	info, ok := runtime.SerializerInfoForMediaType(codecs.SupportedMediaTypes(), mediaType)
	if !ok {
		t.Fatalf("no serializer for %s", mediaType)
	}
	return info.Serializer
}

func encode(t *testing.T, codecs serializer.CodecFactory, mediaType string, object runtime.Object) string {
	t.Helper()
	wire, err := runtime.Encode(serializerOf(t, codecs, mediaType), object)
	if err != nil {
		t.Fatalf("encoding %s: %v", mediaType, err)
	}
	return string(wire)
}

func decode(t *testing.T, codecs serializer.CodecFactory, mediaType, wire string) runtime.Object {
	t.Helper()
	object, err := runtime.Decode(serializerOf(t, codecs, mediaType), []byte(wire))
	if err != nil {
		t.Fatalf("decoding %s: %v", mediaType, err)
	}
	return object
}
