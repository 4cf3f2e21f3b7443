// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package customresourcedefinition_test

import (
	"context"
	"fmt"
	"math/rand"
	"testing"

	"go.etcd.io/etcd/client/v3/kubernetes"
	upstream "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/fuzzer"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/install"
	upstreamv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	upstreamv1beta1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1beta1"
	upstreamregistry "k8s.io/apiextensions-apiserver/pkg/registry/customresourcedefinition"
	apitesting "k8s.io/apimachinery/pkg/api/apitesting/fuzzer"
	metafuzzer "k8s.io/apimachinery/pkg/apis/meta/fuzzer"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/generic"
	genericregistry "k8s.io/apiserver/pkg/registry/generic/registry"
	"k8s.io/apiserver/pkg/registry/rest"
	etcdtesting "k8s.io/apiserver/pkg/storage/etcd3/testing"
	"k8s.io/apiserver/pkg/storage/storagebackend"

	"celador.io/apiextensions-apiserver/pkg/apis/apiextensions"
	"celador.io/apiextensions-apiserver/pkg/apis/apiextensions/scheme"
	"celador.io/apiextensions-apiserver/pkg/registry/customresourcedefinition"
)

// upstreamScheme and upstreamCodecs are for Kubernetes' types, as in Kubernetes' server.
var (
	upstreamScheme = runtime.NewScheme()
	upstreamCodecs = serializer.NewCodecFactory(upstreamScheme)
)

func init() {
	install.Install(upstreamScheme)
}

// A server is the storage of definitions with the strategies of Kubernetes, or of Celador.
type server struct {
	definitions interface {
		rest.StandardStorage
		rest.ShortNamesProvider
		rest.CategoriesProvider
		rest.SingularNameProvider
		rest.Scoper
		rest.ResetFieldsStrategy
	}
	store  *genericregistry.Store
	status interface {
		rest.Patcher
		rest.Storage
	}
	// internal makes an object of the server's internal version.
	internal func(*upstream.CustomResourceDefinition) runtime.Object
	prefix   string
}

// servers returns the two servers with one etcd, where they use different keys.
func servers(t *testing.T, decorator generic.StorageDecorator) (theirs, ours server, etcd *kubernetes.Client) {
	t.Helper()
	etcdServer, config := etcdtesting.NewUnsecuredEtcd3TestClientServer(t)
	config.Codec = upstreamCodecs.LegacyCodec(upstreamv1beta1.SchemeGroupVersion, upstreamv1.SchemeGroupVersion)
	config.EventsHistoryWindow = storagebackend.DefaultEventsHistoryWindow
	options := func(prefix string) generic.RESTOptions {
		return generic.RESTOptions{
			StorageConfig:  config.ForResource(upstream.Resource("customresourcedefinitions")),
			ResourcePrefix: prefix, Decorator: decorator,
		}
	}
	upstreamREST, err := upstreamregistry.NewREST(upstreamScheme, options("/kubernetes"))
	if err != nil {
		t.Fatal(err)
	}
	theirs = server{
		definitions: upstreamREST, store: upstreamREST.Store, status: upstreamregistry.NewStatusREST(upstreamScheme, upstreamREST),
		internal: func(definition *upstream.CustomResourceDefinition) runtime.Object { return definition.DeepCopy() },
		prefix:   config.Prefix + "/kubernetes",
	}
	ourREST, err := customresourcedefinition.NewREST(scheme.Scheme, options("/celador"))
	if err != nil {
		t.Fatal(err)
	}
	ours = server{
		definitions: ourREST, store: ourREST.Store, status: customresourcedefinition.NewStatusREST(scheme.Scheme, ourREST),
		internal: func(definition *upstream.CustomResourceDefinition) runtime.Object { return plain(definition) },
		prefix:   config.Prefix + "/celador",
	}
	for _, s := range []server{theirs, ours} {
		t.Cleanup(s.definitions.Destroy)
		t.Cleanup(s.status.Destroy)
	}
	return theirs, ours, etcdServer.V3Client
}

// plain returns our form of a CustomResourceDefinition that has only fields of Kubernetes.
func plain(definition *upstream.CustomResourceDefinition) *apiextensions.CustomResourceDefinition {
	return &apiextensions.CustomResourceDefinition{CustomResourceDefinition: *definition.DeepCopy()}
}

// part returns the part of a CustomResourceDefinition that Kubernetes' type has.
func part(obj runtime.Object) *upstream.CustomResourceDefinition {
	if ours, ok := obj.(*apiextensions.CustomResourceDefinition); ok {
		return &ours.CustomResourceDefinition
	}
	definition, _ := obj.(*upstream.CustomResourceDefinition)
	return definition
}

// fuzz returns random definitions.
func fuzz(t *testing.T, count int) []*upstream.CustomResourceDefinition {
	t.Helper()
	fill := apitesting.FuzzerFor(apitesting.MergeFuzzerFuncs(metafuzzer.Funcs, fuzzer.Funcs), rand.NewSource(3), upstreamCodecs)
	definitions := make([]*upstream.CustomResourceDefinition, count)
	for i := range definitions {
		definitions[i] = &upstream.CustomResourceDefinition{}
		fill.Fill(definitions[i])
		definitions[i].TypeMeta = metav1.TypeMeta{}
		definitions[i].Name = fmt.Sprintf("fuzzed-%d", i)
	}
	return definitions
}

// testContext returns the context of a request for definitions.
func testContext() context.Context {
	return request.WithRequestInfo(request.WithNamespace(request.NewContext(), ""), &request.RequestInfo{Resource: "customresourcedefinitions"})
}

// decode returns Kubernetes' internal version of a manifest of v1, with defaults.
func decode(t *testing.T, manifest string) *upstream.CustomResourceDefinition {
	t.Helper()
	obj, err := runtime.Decode(upstreamCodecs.UniversalDecoder(upstream.SchemeGroupVersion), []byte(manifest))
	if err != nil {
		t.Fatal(err)
	}
	return obj.(*upstream.CustomResourceDefinition)
}

// decodeOurs returns our internal version of a manifest of v1, with defaults.
func decodeOurs(t *testing.T, manifest string) *apiextensions.CustomResourceDefinition {
	t.Helper()
	obj, err := runtime.Decode(scheme.Codecs.UniversalDecoder(upstream.SchemeGroupVersion), []byte(manifest))
	if err != nil {
		t.Fatal(err)
	}
	return obj.(*apiextensions.CustomResourceDefinition)
}

// stored returns what etcd holds for the name.
func (s server) stored(t *testing.T, etcd *kubernetes.Client, name string) []byte {
	t.Helper()
	response, err := etcd.KV.Get(context.Background(), s.prefix+"/"+name)
	if err != nil {
		t.Fatal(err)
	}
	if len(response.Kvs) != 1 {
		t.Fatalf("etcd has %d values for %s", len(response.Kvs), name)
	}
	return response.Kvs[0].Value
}
