// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package codecs_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/conversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer/cbor/direct"
	"k8s.io/apiserver/pkg/features"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/apiserver/pkg/util/webhook"
	featuregatetesting "k8s.io/component-base/featuregate/testing"

	"celador.io/apiextensions-apiserver/pkg/crdtest"
	"celador.io/apiextensions-apiserver/pkg/customresource/codecs"
	"celador.io/apiextensions-apiserver/pkg/customresource/schemas"
)

var (
	v1 = schema.GroupVersion{Group: "example.com", Version: "v1"}
	v2 = schema.GroupVersion{Group: "example.com", Version: "v2"}
)

// newKind returns the schemas and the converter of widgets, whose v1 has a default and whose v2 has
// not.
func newKind(t *testing.T) (*schemas.Schemas, runtime.ObjectConvertor) {
	t.Helper()
	crd := crdtest.New(
		crdtest.Version("v1", map[string]apiextensionsv1.JSONSchemaProps{
			"size": {Type: "integer", Default: &apiextensionsv1.JSON{Raw: []byte("3")}}, "only1": {Type: "string"},
		}),
		crdtest.Stored(crdtest.Version("v2", map[string]apiextensionsv1.JSONSchemaProps{"size": {Type: "integer"}, "only2": {Type: "string"}})))
	s, err := schemas.New(crd, nil)
	if err != nil {
		t.Fatal(err)
	}
	factory, err := conversion.NewCRConverterFactory(webhook.NewDefaultServiceResolver(),
		func(r webhook.AuthenticationInfoResolver) webhook.AuthenticationInfoResolver { return r })
	if err != nil {
		t.Fatal(err)
	}
	converter, _, err := factory.NewConverter(crd)
	if err != nil {
		t.Fatal(err)
	}
	return s, converter
}

func newSerializer(t *testing.T) codecs.Serializer {
	t.Helper()
	s, converter := newKind(t)
	return codecs.NewSerializer(codecs.NewTyper(codecs.NewOptionsScheme(v1)), converter, s)
}

func mediaTypeNames(infos []runtime.SerializerInfo) string {
	var names []string
	for _, info := range infos {
		names = append(names, info.MediaType)
	}
	return strings.Join(names, " ")
}

func TestMediaTypes(t *testing.T) {
	for cborEnabled, want := range map[bool]string{
		false: "application/json application/yaml",
		true:  "application/json application/yaml application/cbor",
	} {
		featuregatetesting.SetFeatureGateDuringTest(t, utilfeature.DefaultFeatureGate, features.CBORServingAndStorage, cborEnabled)
		s := newSerializer(t)
		if got := mediaTypeNames(s.ResourceMediaTypes()); got != want {
			t.Errorf("custom resources have the media types %s, want %s", got, want)
		}
		all := strings.Replace(want, "yaml", "yaml application/vnd.kubernetes.protobuf", 1)
		if got := mediaTypeNames(s.SupportedMediaTypes()); got != all {
			t.Errorf("other objects have the media types %s, want %s", got, all)
		}
	}
}

// TestDecoding covers request bodies of each media type.
func TestDecoding(t *testing.T) {
	featuregatetesting.SetFeatureGateDuringTest(t, utilfeature.DefaultFeatureGate, features.CBORServingAndStorage, true)
	s := newSerializer(t)
	object := map[string]any{"apiVersion": "example.com/v1", "kind": "Widget", "spec": map[string]any{"x": int64(1)}}
	cbor, err := direct.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	const unknown = `strict decoding error: unknown field "spec.x"`
	for _, test := range []struct {
		mediaType string
		strict    bool
		body      string
		err       string
	}{
		{"application/json", false, `{"apiVersion":"example.com/v1","kind":"Widget","spec":{"x":1}}`, ""},
		{"application/json", true, `{"apiVersion":"example.com/v1","kind":"Widget","spec":{"x":1}}`, unknown},
		{"application/yaml", true, "apiVersion: example.com/v1\nkind: Widget\nspec: {x: 1}", unknown},
		{"application/cbor", true, string(cbor), ""},
	} {
		info, ok := runtime.SerializerInfoForMediaType(s.SupportedMediaTypes(), test.mediaType)
		if !ok {
			t.Fatalf("no serializer of %s", test.mediaType)
		}
		decoder := info.Serializer
		if test.strict {
			decoder = info.StrictSerializer
		}
		into := &unstructured.Unstructured{}
		into.SetGroupVersionKind(v1.WithKind("Widget"))
		got, _, err := s.DecoderToVersion(decoder, v1).Decode([]byte(test.body), nil, into)
		if text := errorText(err); text != test.err {
			t.Errorf("%s, strict %t: got error %q, want %q", test.mediaType, test.strict, text, test.err)
		}
		want := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "example.com/v1", "kind": "Widget", "spec": map[string]any{"size": int64(3)}}}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s, strict %t (-want +got):\n%s", test.mediaType, test.strict, diff)
		}
	}
}

// TestOptions covers options in the body of a request, which have no schema.
func TestOptions(t *testing.T) {
	s := newSerializer(t)
	info, _ := runtime.SerializerInfoForMediaType(s.SupportedMediaTypes(), "application/json")
	options := &metav1.DeleteOptions{}
	_, _, err := s.DecoderToVersion(info.Serializer, v1).Decode([]byte(`{"apiVersion":"v1","kind":"DeleteOptions","gracePeriodSeconds":7}`), new(v1.WithKind("DeleteOptions")), options)
	if err != nil || options.GracePeriodSeconds == nil || *options.GracePeriodSeconds != 7 {
		t.Errorf("got %v, error %v", options, err)
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// TestStorage covers objects that were stored in another version than the one that is served, and
// before metadata was validated.
func TestStorage(t *testing.T) {
	s, converter := newKind(t)
	storage := &crdtest.Storage{}
	options, err := codecs.StorageOptionsGetter{RESTOptionsGetter: storage, Encoding: s.Converter(converter), Decoding: s.Converter(converter), Schemas: s, Served: v2, Stored: v2}.GetRESTOptions(schema.GroupResource{Resource: "widgets"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	codec := options.StorageConfig.Codec

	const stored = `{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"w","labels":{"a":1}},"spec":{"only1":"a","only2":"b","x":1}}`
	into := &unstructured.Unstructured{}
	into.SetGroupVersionKind(v2.WithKind("Widget"))
	got, _, err := codec.Decode([]byte(stored), nil, into)
	if err != nil {
		t.Fatal(err)
	}
	// The default is that of v1, in which the object is stored. The schema of v2 prunes what v1
	// alone specifies.
	want := `{"apiVersion":"example.com/v2","kind":"Widget","metadata":{"generation":1,"name":"w"},"spec":{"size":3}}`
	encoded, err := runtime.Encode(unstructured.UnstructuredJSONScheme, got)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, strings.TrimSpace(string(encoded))); diff != "" {
		t.Errorf("decoded (-want +got):\n%s", diff)
	}

	written, err := runtime.Encode(codec, &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "example.com/v1", "kind": "Widget", "metadata": map[string]any{"name": "w"},
		"spec": map[string]any{"only1": "a", "only2": "b"},
	}})
	if err != nil {
		t.Fatal(err)
	}
	want = `{"apiVersion":"example.com/v2","kind":"Widget","metadata":{"name":"w"},"spec":{"only2":"b"}}`
	if diff := cmp.Diff(want, strings.TrimSpace(string(written))); diff != "" {
		t.Errorf("encoded (-want +got):\n%s", diff)
	}
}

// TestAsStored covers objects that stay in the version in which they are stored. Those of watches
// share their managed fields; those of requests are not looked at.
func TestAsStored(t *testing.T) {
	s, _ := newKind(t)
	options, err := codecs.AsStored{RESTOptionsGetter: &crdtest.Storage{}, Schemas: s}.GetRESTOptions(schema.GroupResource{Resource: "widgets"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	codec := options.StorageConfig.Codec
	const stored = `{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"generation":1,"managedFields":[{"fieldsType":"FieldsV1","fieldsV1":{"f:spec":{"f:only1":{}}},"manager":"m"}],"name":"w"},"spec":{"only1":"a","x":1}}`
	owned := map[string][]uintptr{}
	for range 4 {
		request := &unstructured.Unstructured{}
		request.SetGroupVersionKind(v2.WithKind("Widget"))
		for name, into := range map[string]runtime.Object{"watch": nil, "request": request} {
			got, _, err := codec.Decode([]byte(stored), nil, into)
			if err != nil {
				t.Fatal(err)
			}
			encoded, err := runtime.Encode(codec, got)
			if err != nil {
				t.Fatal(err)
			}
			want := strings.Replace(stored, `"x":1`, `"size":3`, 1)
			if diff := cmp.Diff(want, strings.TrimSpace(string(encoded))); diff != "" {
				t.Errorf("%s: decoded and encoded (-want +got):\n%s", name, diff)
			}
			entries, _, _ := unstructured.NestedFieldNoCopy(got.(*unstructured.Unstructured).Object, "metadata", "managedFields")
			owned[name] = append(owned[name], reflect.ValueOf(entries.([]any)[0].(map[string]any)["fieldsV1"]).Pointer())
		}
	}
	if owned["watch"][2] != owned["watch"][3] {
		t.Error("equal managed fields of watched objects are not shared")
	}
	if owned["request"][2] == owned["request"][3] {
		t.Error("managed fields of requests are shared")
	}
}

func TestTyper(t *testing.T) {
	typer := codecs.NewTyper(codecs.NewOptionsScheme(v1))
	kinds, _, err := typer.ObjectKinds(&metav1.ListOptions{})
	if err != nil || len(kinds) != 1 || kinds[0] != v1.WithKind("ListOptions") {
		t.Errorf("got kinds %v, error %v", kinds, err)
	}
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(v2.WithKind("Widget"))
	if kinds, _, err = typer.ObjectKinds(u); err != nil || len(kinds) != 1 || kinds[0] != v2.WithKind("Widget") {
		t.Errorf("got kinds %v, error %v", kinds, err)
	}
	if !typer.Recognizes(v1.WithKind("GetOptions")) || typer.Recognizes(v2.WithKind("GetOptions")) {
		t.Error("does not recognize the options of v1 alone")
	}
}
