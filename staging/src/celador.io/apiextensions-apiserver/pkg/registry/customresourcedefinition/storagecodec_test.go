// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package customresourcedefinition_test

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	upstream "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	upstreamv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/registry/generic"
	"k8s.io/apiserver/pkg/storage"

	"celador.io/apiextensions-apiserver/pkg/apis/apiextensions"
)

// TestPlainDefinitionsAreStoredLikeKubernetes writes the same definitions through both servers and
// compares the bytes in etcd, and what the servers read.
func TestPlainDefinitionsAreStoredLikeKubernetes(t *testing.T) {
	theirs, ours, etcd := servers(t, generic.UndecoratedStorage)
	for i, definition := range fuzz(t, 200) {
		definition.ResourceVersion = ""
		for _, s := range []server{theirs, ours} {
			if err := s.store.Storage.Create(testContext(), s.key(definition.Name), s.internal(definition), s.store.NewFunc(), 0, false); err != nil {
				t.Fatal(err)
			}
		}
		want, got := theirs.stored(t, etcd, definition.Name), ours.stored(t, etcd, definition.Name)
		if !bytes.Equal(got, want) {
			t.Fatalf("definition %d is stored differently (-Kubernetes +Celador):\n%s", i, cmp.Diff(string(want), string(got)))
		}
		read := map[string]*upstream.CustomResourceDefinition{}
		for name, s := range map[string]server{"theirs": theirs, "ours": ours} {
			obj, err := s.definitions.Get(testContext(), definition.Name, &metav1.GetOptions{})
			if err != nil {
				t.Fatal(err)
			}
			read[name] = part(obj)
			read[name].ResourceVersion = ""
		}
		if !apiequality.Semantic.DeepEqual(read["theirs"], read["ours"]) {
			t.Fatalf("definition %d is read differently (-Kubernetes +Celador):\n%s", i, cmp.Diff(read["theirs"], read["ours"]))
		}
	}
}

// key returns the storage key of a name.
func (s server) key(name string) string {
	key, err := s.store.KeyFunc(testContext(), name)
	if err != nil {
		panic(err)
	}
	return key
}

const expressive = `{
	"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
	"metadata": {"name": "demos.example.com"},
	"spec": {
		"group": "example.com", "scope": "Namespaced", "names": {"plural": "demos", "kind": "Demo"},
		"conversion": {"strategy": "ConversionRules", "converters": [{"fromVersion": "v1", "toVersion": "v2"}]},
		"versions": [
			{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": {"type": "object", "x-kubernetes-default": [{"rule": "1", "field": "a"}]}}}}},
			{"name": "v2", "served": true, "storage": false, "schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": {"type": "object"}}}}}
		]
	}
}`

// TestExpressionsAreStoredAsV1 stores a CustomResourceDefinition with expressions, which
// Kubernetes' server must be able to read without them.
func TestExpressionsAreStoredAsV1(t *testing.T) {
	theirs, ours, etcd := servers(t, generic.UndecoratedStorage)
	definition := decodeOurs(t, expressive)
	if definition.Expressions.IsEmpty() {
		t.Fatal("the manifest has no expressions")
	}
	if err := ours.store.Storage.Create(testContext(), ours.key(definition.Name), definition.DeepCopy(), ours.store.NewFunc(), 0, false); err != nil {
		t.Fatal(err)
	}
	data := string(ours.stored(t, etcd, definition.Name))
	for _, want := range []string{`"apiVersion":"apiextensions.k8s.io/v1"`, `"x-kubernetes-default":[{"rule":"1","field":"a"}]`, `"strategy":"ConversionRules"`, `"converters":[{"fromVersion":"v1","toVersion":"v2"}]`} {
		if !strings.Contains(data, want) {
			t.Errorf("etcd holds no %s: %s", want, data)
		}
	}
	if _, err := etcd.KV.Put(testContext(), theirs.prefix+"/"+definition.Name, data); err != nil {
		t.Fatal(err)
	}
	theirObj, err := theirs.definitions.Get(testContext(), definition.Name, &metav1.GetOptions{})
	if err != nil {
		t.Errorf("Kubernetes' server cannot read the definition: %v", err)
	} else if got := part(theirObj).Spec.Names.Kind; got != "Demo" {
		t.Errorf("Kubernetes' server reads kind %q", got)
	}
	obj, err := ours.definitions.Get(testContext(), definition.Name, &metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	read := obj.(*apiextensions.CustomResourceDefinition)
	read.ResourceVersion = ""
	if diff := cmp.Diff(definition, read); diff != "" {
		t.Errorf("the server reads another definition (-stored +read):\n%s", diff)
	}

	// A CustomResourceDefinition without expressions leaves v1 again.
	removeExpressions := storage.SimpleUpdate(func(existing runtime.Object) (runtime.Object, error) {
		existing.(*apiextensions.CustomResourceDefinition).Expressions = nil
		return existing, nil
	})
	if err := ours.store.Storage.GuaranteedUpdate(testContext(), ours.key(definition.Name), ours.store.NewFunc(), false, nil, removeExpressions, false, nil); err != nil {
		t.Fatal(err)
	}
	if data := string(ours.stored(t, etcd, definition.Name)); !strings.Contains(data, `"apiVersion":"apiextensions.k8s.io/v1beta1"`) {
		t.Errorf("a definition without expressions is not stored as v1beta1: %s", data)
	}
}

// TestStoredV1WithoutExpressions reads what a server stores whose storage version is v1.
func TestStoredV1WithoutExpressions(t *testing.T) {
	_, ours, etcd := servers(t, generic.UndecoratedStorage)
	for media, data := range map[string][]byte{
		"json":     []byte(demo),
		"protobuf": protobufOf(t, demo),
	} {
		name := "demos.example.com"
		if _, err := etcd.KV.Put(testContext(), ours.prefix+"/"+name, string(data)); err != nil {
			t.Fatal(err)
		}
		obj, err := ours.definitions.Get(testContext(), name, &metav1.GetOptions{})
		if err != nil {
			t.Errorf("%s: %v", media, err)
			continue
		}
		read := obj.(*apiextensions.CustomResourceDefinition)
		read.ResourceVersion = ""
		if diff := cmp.Diff(plain(decode(t, demo)), read); diff != "" {
			t.Errorf("%s: the server reads another definition (-stored +read):\n%s", media, diff)
		}
	}
}

// protobufOf returns a manifest in protobuf.
func protobufOf(t *testing.T, manifest string) []byte {
	t.Helper()
	info, ok := runtime.SerializerInfoForMediaType(upstreamCodecs.SupportedMediaTypes(), runtime.ContentTypeProtobuf)
	if !ok {
		t.Fatal("no protobuf serializer")
	}
	data, err := runtime.Encode(upstreamCodecs.EncoderForVersion(info.Serializer, upstreamv1.SchemeGroupVersion), decode(t, manifest))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// TestOddData compares the errors of data in etcd that no server writes.
func TestOddData(t *testing.T) {
	theirs, ours, etcd := servers(t, generic.UndecoratedStorage)
	for name, data := range map[string]string{
		"truncated":    `{"apiVersion": "apiextensions.k8s.io/v1beta1", "kind": "Custom`,
		"other-kind":   `{"apiVersion": "v1", "kind": "Pod"}`,
		"other-type":   `{"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "spec": 1}`,
		"list":         `{"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinitionList", "items": []}`,
		"without-kind": `{}`,
		"nothing":      ``,
	} {
		t.Run(name, func(t *testing.T) {
			errs := map[string]error{}
			for side, s := range map[string]server{"theirs": theirs, "ours": ours} {
				if _, err := etcd.KV.Put(testContext(), s.prefix+"/"+name, data); err != nil {
					t.Fatal(err)
				}
				_, errs[side] = s.definitions.Get(testContext(), name, &metav1.GetOptions{})
			}
			normalize := func(err error) string {
				return regexp.MustCompile(`revision=\d+`).ReplaceAllString(strings.ReplaceAll(fmt.Sprint(err), "/celador/", "/kubernetes/"), "revision")
			}
			if normalize(errs["ours"]) != normalize(errs["theirs"]) {
				t.Errorf("got error %v, want %v", errs["ours"], errs["theirs"])
			}
		})
	}
}
