// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package scheme_test

import (
	"bytes"
	"fmt"
	"math/rand"
	"testing"

	"github.com/google/go-cmp/cmp"
	upstream "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/fuzzer"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/install"
	upstreamv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	upstreamv1beta1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1beta1"
	apitesting "k8s.io/apimachinery/pkg/api/apitesting/fuzzer"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metafuzzer "k8s.io/apimachinery/pkg/apis/meta/fuzzer"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/runtime/serializer/cbor"

	v1 "celador.io/api/apiextensions/v1"
	"celador.io/apiextensions-apiserver/pkg/apis/apiextensions"
	"celador.io/apiextensions-apiserver/pkg/apis/apiextensions/scheme"
)

// upstreamScheme holds Kubernetes' types.
var (
	upstreamScheme = runtime.NewScheme()
	upstreamCodecs = serializer.NewCodecFactory(upstreamScheme, serializer.WithSerializer(cbor.NewSerializerInfo))
	codecs         = serializer.NewCodecFactory(scheme.Scheme, serializer.WithSerializer(cbor.NewSerializerInfo))
)

func init() {
	install.Install(upstreamScheme)
}

const fuzzed = 300

// fuzz returns random definitions of Kubernetes' internal version.
func fuzz(t *testing.T, count int) []*upstream.CustomResourceDefinition {
	t.Helper()
	fill := apitesting.FuzzerFor(apitesting.MergeFuzzerFuncs(metafuzzer.Funcs, fuzzer.Funcs), rand.NewSource(1), upstreamCodecs)
	definitions := make([]*upstream.CustomResourceDefinition, count)
	for i := range definitions {
		definitions[i] = &upstream.CustomResourceDefinition{}
		fill.Fill(definitions[i])
		definitions[i].TypeMeta = metav1.TypeMeta{}
	}
	return definitions
}

// encoders returns the encoders of v1 in all media types.
func encoders(factory serializer.CodecFactory, version schema.GroupVersion) map[string]runtime.Encoder {
	encoders := map[string]runtime.Encoder{}
	for _, info := range factory.SupportedMediaTypes() {
		encoders[info.MediaType] = factory.EncoderForVersion(info.Serializer, version)
		if info.PrettySerializer != nil {
			encoders[info.MediaType+" pretty"] = factory.EncoderForVersion(info.PrettySerializer, version)
		}
	}
	return encoders
}

func encode(t *testing.T, encoder runtime.Encoder, obj runtime.Object) []byte {
	t.Helper()
	data, err := runtime.Encode(encoder, obj)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// TestPlainDefinitions compares the encodings of definitions that have only fields of Kubernetes
// with Kubernetes', and decodes them again.
func TestPlainDefinitions(t *testing.T) {
	definitions := fuzz(t, fuzzed)
	theirs, ours := encoders(upstreamCodecs, upstreamv1.SchemeGroupVersion), encoders(codecs, v1.SchemeGroupVersion)
	if len(ours) != len(theirs) || len(ours) < 5 {
		t.Fatalf("got %d encoders, want those of Kubernetes: %d", len(ours), len(theirs))
	}
	for media, encoder := range theirs {
		t.Run(media, func(t *testing.T) {
			for i, definition := range definitions {
				want := encode(t, encoder, definition)
				got := encode(t, ours[media], &apiextensions.CustomResourceDefinition{CustomResourceDefinition: *definition})
				if !bytes.Equal(got, want) {
					t.Fatalf("definition %d: encodings differ (-Kubernetes +Celador):\n%s", i, cmp.Diff(string(want), string(got)))
				}
				decoded, err := runtime.Decode(codecs.UniversalDecoder(upstream.SchemeGroupVersion), want)
				if err != nil {
					t.Fatal(err)
				}
				expected, err := runtime.Decode(upstreamCodecs.UniversalDecoder(upstream.SchemeGroupVersion), want)
				if err != nil {
					t.Fatal(err)
				}
				if !apiequality.Semantic.DeepEqual(decoded, &apiextensions.CustomResourceDefinition{CustomResourceDefinition: *expected.(*upstream.CustomResourceDefinition)}) {
					t.Fatalf("definition %d: decoding differs (-Kubernetes +Celador):\n%s", i, cmp.Diff(expected, runtime.Object(&decoded.(*apiextensions.CustomResourceDefinition).CustomResourceDefinition)))
				}
			}
		})
	}
}

func TestPlainLists(t *testing.T) {
	theirs := &upstream.CustomResourceDefinitionList{ListMeta: metav1.ListMeta{ResourceVersion: "7", Continue: "next", RemainingItemCount: new(int64(3))}}
	ours := &apiextensions.CustomResourceDefinitionList{ListMeta: theirs.ListMeta}
	for _, definition := range fuzz(t, 20) {
		theirs.Items = append(theirs.Items, *definition)
		ours.Items = append(ours.Items, apiextensions.CustomResourceDefinition{CustomResourceDefinition: *definition})
	}
	lists := map[string][2]runtime.Object{
		"items": {theirs, ours},
		"empty": {&upstream.CustomResourceDefinitionList{Items: []upstream.CustomResourceDefinition{}}, &apiextensions.CustomResourceDefinitionList{Items: []apiextensions.CustomResourceDefinition{}}},
		"nil":   {&upstream.CustomResourceDefinitionList{}, &apiextensions.CustomResourceDefinitionList{}},
	}
	for name, list := range lists {
		for media, encoder := range encoders(codecs, v1.SchemeGroupVersion) {
			want, got := encode(t, encoders(upstreamCodecs, upstreamv1.SchemeGroupVersion)[media], list[0]), encode(t, encoder, list[1])
			if !bytes.Equal(got, want) {
				t.Errorf("%s in %s: encodings differ (-Kubernetes +Celador):\n%s", name, media, cmp.Diff(string(want), string(got)))
			}
			var again [2][]byte
			for i, factory := range []serializer.CodecFactory{upstreamCodecs, codecs} {
				decoded, err := runtime.Decode(factory.UniversalDecoder(upstream.SchemeGroupVersion), want)
				if err != nil {
					t.Fatal(err)
				}
				again[i] = encode(t, encoders(factory, v1.SchemeGroupVersion)[media], decoded)
			}
			if !bytes.Equal(again[0], again[1]) {
				t.Errorf("%s in %s: decoded lists differ (-Kubernetes +Celador):\n%s", name, media, cmp.Diff(string(again[0]), string(again[1])))
			}
		}
	}
}

// TestDecoding compares what Kubernetes and Celador make of bodies of requests: defaults, and
// errors.
func TestDecoding(t *testing.T) {
	tests := map[string]string{
		"empty":                 `{"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition"}`,
		"names":                 `{"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "spec": {"names": {"kind": "Demo"}}}`,
		"names set":             `{"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "spec": {"names": {"kind": "Demo", "singular": "one", "listKind": "Many"}}}`,
		"storage version":       `{"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "spec": {"versions": [{"name": "v1"}, {"name": "v2", "storage": true}, {"name": "v3", "storage": true}]}}`,
		"stored version":        `{"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "spec": {"versions": [{"name": "v1", "storage": true}]}, "status": {"storedVersions": ["v0"]}}`,
		"webhook port":          `{"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "spec": {"conversion": {"strategy": "Webhook", "webhook": {"clientConfig": {"service": {"name": "a", "namespace": "b"}}}}}}`,
		"webhook port set":      `{"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "spec": {"conversion": {"strategy": "Webhook", "webhook": {"clientConfig": {"service": {"port": 8443}}}}}}`,
		"webhook without a URL": `{"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "spec": {"conversion": {"strategy": "Webhook", "webhook": {}}}}`,
		"one schema":            `{"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "spec": {"versions": [{"name": "v1", "schema": {"openAPIV3Schema": {"type": "object"}}}, {"name": "v2", "schema": {"openAPIV3Schema": {"type": "object"}}}]}}`,
		"two schemas":           `{"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "spec": {"versions": [{"name": "v1", "schema": {"openAPIV3Schema": {"type": "object"}}}, {"name": "v2", "schema": {"openAPIV3Schema": {"type": "array"}}}]}}`,
		"null defaults":         `{"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "spec": {"versions": [{"name": "v1", "schema": {"openAPIV3Schema": {"default": null, "example": null, "enum": [null, 1]}}}]}}`,
		"list":                  `{"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinitionList", "items": [{"spec": {"names": {"kind": "Demo"}}}]}`,
		"v1beta1":               `{"apiVersion": "apiextensions.k8s.io/v1beta1", "kind": "CustomResourceDefinition", "spec": {"version": "v1", "names": {"kind": "Demo"}}}`,
		"wrong type":            `{"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "spec": {"versions": [{"name": 1}]}}`,
		"unknown kind":          `{"apiVersion": "apiextensions.k8s.io/v1", "kind": "Demo"}`,
		"unknown version":       `{"apiVersion": "apiextensions.k8s.io/v2", "kind": "CustomResourceDefinition"}`,
		"other group":           `{"apiVersion": "v1", "kind": "Pod"}`,
	}
	for name, body := range tests {
		t.Run(name, func(t *testing.T) {
			theirs, theirKind, theirErr := upstreamCodecs.UniversalDecoder(upstream.SchemeGroupVersion).Decode([]byte(body), nil, &upstream.CustomResourceDefinition{})
			ours, ourKind, ourErr := codecs.UniversalDecoder(upstream.SchemeGroupVersion).Decode([]byte(body), nil, &apiextensions.CustomResourceDefinition{})
			if diff := cmp.Diff(theirKind, ourKind); diff != "" {
				t.Errorf("kinds differ (-Kubernetes +Celador):\n%s", diff)
			}
			if fmt.Sprint(ourErr) != fmt.Sprint(theirErr) {
				t.Fatalf("got error %v, want %v", ourErr, theirErr)
			}
			if theirErr != nil {
				return
			}
			want, got := theirs.(*upstream.CustomResourceDefinition), ours.(*apiextensions.CustomResourceDefinition)
			if diff := cmp.Diff(want, &got.CustomResourceDefinition); diff != "" {
				t.Errorf("definitions differ (-Kubernetes +Celador):\n%s", diff)
			}
			if got.Expressions != nil {
				t.Errorf("got expressions %v of a plain definition", got.Expressions)
			}
		})
	}
}

// TestV1beta1 converts to and from the version that Kubernetes stores.
func TestV1beta1(t *testing.T) {
	theirs := upstreamCodecs.LegacyCodec(upstreamv1beta1.SchemeGroupVersion)
	ours := codecs.LegacyCodec(upstreamv1beta1.SchemeGroupVersion)
	for i, definition := range fuzz(t, fuzzed) {
		want, got := encode(t, theirs, definition), encode(t, ours, &apiextensions.CustomResourceDefinition{CustomResourceDefinition: *definition})
		if !bytes.Equal(got, want) {
			t.Fatalf("definition %d: encodings differ (-Kubernetes +Celador):\n%s", i, cmp.Diff(string(want), string(got)))
		}
		decoded, err := runtime.Decode(ours, got)
		if err != nil {
			t.Fatal(err)
		}
		if again := encode(t, ours, decoded); !bytes.Equal(again, got) {
			t.Fatalf("definition %d: the decoded definition encodes differently (-first +again):\n%s", i, cmp.Diff(string(got), string(again)))
		}
	}
}

func TestDeepCopyKeepsTheType(t *testing.T) {
	definition := &apiextensions.CustomResourceDefinition{Expressions: &apiextensions.ExpressionFields{
		Defaults:   map[string]apiextensions.SchemaDefaults{"v1": {"": {{Rule: "1"}}}},
		Converters: []v1.Converter{{Rules: []v1.ConversionRule{{Rule: "2"}}}},
	}}
	for _, obj := range []runtime.Object{definition, &apiextensions.CustomResourceDefinitionList{Items: []apiextensions.CustomResourceDefinition{*definition}}} {
		copied := obj.DeepCopyObject()
		if got, want := fmt.Sprintf("%T", copied), fmt.Sprintf("%T", obj); got != want {
			t.Errorf("got a copy of type %s, want %s", got, want)
		}
		if diff := cmp.Diff(obj, copied); diff != "" {
			t.Errorf("the copy differs (-original +copy):\n%s", diff)
		}
	}
	copied := definition.DeepCopy()
	copied.Expressions.Defaults["v1"][""][0].Rule = "changed"
	copied.Expressions.Converters[0].Rules[0].Rule = "changed"
	if definition.Expressions.Defaults["v1"][""][0].Rule != "1" || definition.Expressions.Converters[0].Rules[0].Rule != "2" {
		t.Errorf("the copy shares memory with the original: %v", definition.Expressions)
	}
}
