// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package rest_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	genericfeatures "k8s.io/apiserver/pkg/features"
	"k8s.io/apiserver/pkg/registry/generic"
	serverstorage "k8s.io/apiserver/pkg/server/storage"
	apistorage "k8s.io/apiserver/pkg/storage"
	"k8s.io/apiserver/pkg/storage/storagebackend"
	"k8s.io/apiserver/pkg/storage/storagebackend/factory"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	fakediscovery "k8s.io/client-go/discovery/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/cache"
	featuregatetesting "k8s.io/component-base/featuregate/testing"
	"k8s.io/kubernetes/pkg/controlplane/apiserver"

	v1 "celador.io/api/admissionregistration/v1"
	"celador.io/api/admissionregistration/v1alpha1"
	"celador.io/api/admissionregistration/v1beta1"
	"celador.io/apiserver/pkg/features"

	"celador.io/celador/pkg/registry/admissionregistration/rest"
)

var _ apiserver.RESTStorageProvider = rest.StorageProvider{}

// provider returns a provider whose authorizer only lets users get the config map "readable".
func provider() rest.StorageProvider {
	return rest.StorageProvider{
		Authorizer: authorizer.AuthorizerFunc(func(_ context.Context, a authorizer.Attributes) (authorizer.Decision, string, error) {
			if a.GetVerb() == "get" && a.GetResource() == "configmaps" && a.GetName() == "readable" {
				return authorizer.DecisionAllow, "", nil
			}
			return authorizer.DecisionDeny, "", nil
		}),
		Discovery: &fakediscovery.FakeDiscovery{Fake: &clienttesting.Fake{Resources: []*metav1.APIResourceList{{
			GroupVersion: "v1",
			APIResources: []metav1.APIResource{{Name: "configmaps", Kind: "ConfigMap", Namespaced: true}},
		}}}},
		StorageMediaType: runtime.ContentTypeProtobuf,
	}
}

func enabled(versions ...schema.GroupVersion) *serverstorage.ResourceConfig {
	config := serverstorage.NewResourceConfig()
	config.EnableVersions(versions...)
	return config
}

func with(config *serverstorage.ResourceConfig, resources ...schema.GroupVersionResource) *serverstorage.ResourceConfig {
	config.EnableResources(resources...)
	return config
}

// recorder is a RESTOptionsGetter whose stores keep nothing. It maps each resource to the storage
// configuration of its store.
type recorder map[string]*storagebackend.ConfigForResource

func (r recorder) GetRESTOptions(resource schema.GroupResource, example runtime.Object) (generic.RESTOptions, error) {
	return generic.RESTOptions{
		StorageConfig:  (&storagebackend.Config{Prefix: "/elsewhere"}).ForResource(resource),
		ResourcePrefix: resource.Resource,
		Decorator: func(config *storagebackend.ConfigForResource, _ string, _ func(runtime.Object) (string, error), _ func() runtime.Object,
			_ func() runtime.Object, _ apistorage.AttrFunc, _ apistorage.IndexerFuncs, _ *cache.Indexers) (apistorage.Interface, factory.DestroyFunc, error) {
			if r[config.GroupResource.Resource] != nil {
				return nil, nil, errors.New("a second store of " + config.GroupResource.Resource)
			}
			r[config.GroupResource.Resource] = config
			return nil, func() {}, nil
		},
	}, nil
}

func TestServedResources(t *testing.T) {
	all := []schema.GroupVersion{v1.SchemeGroupVersion, v1beta1.SchemeGroupVersion, v1alpha1.SchemeGroupVersion}
	mutating := []string{"mutatingadmissionpolicies", "mutatingadmissionpolicies/status", "mutatingadmissionpolicybindings"}
	validating := []string{"validatingadmissionpolicies", "validatingadmissionpolicies/status", "validatingadmissionpolicybindings"}
	webhooks := []string{"mutatingwebhookconfigurations", "validatingwebhookconfigurations"}
	policies, everything := slices.Concat(mutating, validating), slices.Concat(mutating, webhooks[:1], validating, webhooks[1:])
	without := func(config *serverstorage.ResourceConfig, resources ...string) *serverstorage.ResourceConfig {
		for _, resource := range resources {
			config.DisableResources(v1.SchemeGroupVersion.WithResource(resource))
		}
		return config
	}

	for name, tc := range map[string]struct {
		config *serverstorage.ResourceConfig
		// gateOff disables ValidatingAdmissionPolicy, which is then not served. mutatingOff
		// disables MutatingAdmissionPolicy, which is still served.
		gateOff, mutatingOff bool
		want                 map[string][]string
	}{
		"nothing":        {config: enabled(), want: map[string][]string{}},
		"v1":             {config: enabled(v1.SchemeGroupVersion), want: map[string][]string{"v1": everything}},
		"all versions":   {config: enabled(all...), want: map[string][]string{"v1": everything, "v1beta1": policies, "v1alpha1": mutating}},
		"an old version": {config: enabled(v1alpha1.SchemeGroupVersion), want: map[string][]string{"v1alpha1": mutating}},
		"v1 and one old resource": {
			config: with(enabled(v1.SchemeGroupVersion), v1beta1.SchemeGroupVersion.WithResource("validatingadmissionpolicybindings")),
			want:   map[string][]string{"v1": everything, "v1beta1": {"validatingadmissionpolicybindings"}},
		},
		"without policies": {
			config: without(enabled(v1.SchemeGroupVersion), "validatingadmissionpolicies"),
			want:   map[string][]string{"v1": slices.Concat(mutating, webhooks[:1], validating[2:], webhooks[1:])},
		},
		"without mutating policies": {
			config: without(enabled(v1.SchemeGroupVersion), "mutatingadmissionpolicies"),
			want:   map[string][]string{"v1": slices.Concat(mutating[2:], webhooks[:1], validating, webhooks[1:])},
		},
		"v1 and old mutating policies": {
			config: with(enabled(v1.SchemeGroupVersion), v1alpha1.SchemeGroupVersion.WithResource("mutatingadmissionpolicies")),
			want:   map[string][]string{"v1": everything, "v1alpha1": mutating[:2]},
		},
		"without webhooks": {
			config: without(enabled(v1.SchemeGroupVersion), webhooks...),
			want:   map[string][]string{"v1": policies},
		},
		"gate off": {
			config: enabled(all...), gateOff: true,
			want: map[string][]string{"v1": slices.Concat(mutating, webhooks), "v1beta1": mutating, "v1alpha1": mutating},
		},
		"gate of mutating policies off": {config: enabled(v1.SchemeGroupVersion), mutatingOff: true, want: map[string][]string{"v1": everything}},
	} {
		t.Run(name, func(t *testing.T) {
			featuregatetesting.SetFeatureGatesDuringTest(t, utilfeature.DefaultFeatureGate, featuregatetesting.FeatureOverrides{
				features.ValidatingAdmissionPolicy:      !tc.gateOff,
				genericfeatures.MutatingAdmissionPolicy: !tc.mutatingOff,
			})
			stores := recorder{}
			group, err := provider().NewRESTStorage(tc.config, stores)
			if err != nil {
				t.Fatal(err)
			}
			got := map[string][]string{}
			served := map[string]bool{}
			for version, storage := range group.VersionedResourcesStorageMap {
				for resource := range storage {
					got[version] = append(got[version], resource)
					served[strings.TrimSuffix(resource, "/status")] = true
				}
				slices.Sort(got[version])
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("resources by version (-want +got):\n%s", diff)
			}
			if len(stores) != len(served) {
				t.Errorf("got %d stores for %d resources", len(stores), len(served))
			}
			if diff := cmp.Diff(all, group.PrioritizedVersions); diff != "" {
				t.Errorf("priorities (-want +got):\n%s", diff)
			}
		})
	}
}

func TestServerOptionsAreKept(t *testing.T) {
	stores := recorder{}
	if _, err := provider().NewRESTStorage(enabled(v1.SchemeGroupVersion), stores); err != nil {
		t.Fatal(err)
	}
	for resource, config := range stores {
		if config.Prefix != "/elsewhere" || config.GroupResource.Resource != resource {
			t.Errorf("%s is stored under %s%s", resource, config.Prefix, config.GroupResource)
		}
		ours := strings.Contains(resource, "admissionpolic")
		if replaced := config.Codec != nil && config.EncodeVersioner != nil; replaced != ours {
			t.Errorf("%s: codec replaced: %v, want %v", resource, replaced, ours)
		}
	}
}

func TestProviderErrors(t *testing.T) {
	failing := getterFunc(func(schema.GroupResource, runtime.Object) (generic.RESTOptions, error) {
		return generic.RESTOptions{}, errors.New("no etcd")
	})
	for name, tc := range map[string]struct {
		change func(*rest.StorageProvider)
		getter generic.RESTOptionsGetter
		config *serverstorage.ResourceConfig
		want   string
	}{
		"no authorizer": {change: func(p *rest.StorageProvider) { p.Authorizer = nil }, want: "StorageProvider needs an Authorizer and Discovery"},
		"no discovery":  {change: func(p *rest.StorageProvider) { p.Discovery = nil }, want: "StorageProvider needs an Authorizer and Discovery"},
		"media type":    {change: func(p *rest.StorageProvider) { p.StorageMediaType = "text/csv" }, want: `unable to find serializer for "text/csv"`},
		"webhooks":      {getter: failing, want: "storage of validatingwebhookconfigurations: no etcd"},
		"policies":      {getter: failing, config: enabled(v1beta1.SchemeGroupVersion), want: "storage of validatingadmissionpolicies: no etcd"},
		"mutating policies": {
			getter: failing, config: with(enabled(), v1.SchemeGroupVersion.WithResource("mutatingadmissionpolicies")),
			want: "storage of mutatingadmissionpolicies: no etcd",
		},
		"mutating bindings": {
			getter: failing, config: with(enabled(), v1.SchemeGroupVersion.WithResource("mutatingadmissionpolicybindings")),
			want: "storage of mutatingadmissionpolicybindings: no etcd",
		},
	} {
		t.Run(name, func(t *testing.T) {
			p, getter, config := provider(), generic.RESTOptionsGetter(recorder{}), enabled(v1.SchemeGroupVersion)
			if tc.change != nil {
				tc.change(&p)
			}
			if tc.getter != nil {
				getter = tc.getter
			}
			if tc.config != nil {
				config = tc.config
			}
			if _, err := p.NewRESTStorage(config, getter); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got error %v, want one with %q", err, tc.want)
			}
		})
	}
}

type getterFunc func(schema.GroupResource, runtime.Object) (generic.RESTOptions, error)

func (f getterFunc) GetRESTOptions(resource schema.GroupResource, example runtime.Object) (generic.RESTOptions, error) {
	return f(resource, example)
}
