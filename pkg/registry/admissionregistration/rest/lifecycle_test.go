// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package rest_test

import (
	"bytes"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/apiserver/pkg/registry/generic"
	registryrest "k8s.io/apiserver/pkg/registry/rest"
	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/apiserver/pkg/server/options"
	serverstorage "k8s.io/apiserver/pkg/server/storage"
	apistorage "k8s.io/apiserver/pkg/storage"
	"k8s.io/apiserver/pkg/storage/storagebackend"
	"k8s.io/apiserver/pkg/storage/storagebackend/factory"
	"k8s.io/client-go/tools/cache"
	basecompatibility "k8s.io/component-base/compatibility"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	upstreamcontrolplane "k8s.io/kubernetes/pkg/controlplane"
	controlplaneapiserver "k8s.io/kubernetes/pkg/controlplane/apiserver"
	"k8s.io/kubernetes/pkg/kubeapiserver"
	upstreamrest "k8s.io/kubernetes/pkg/registry/admissionregistration/rest"

	v1 "celador.io/api/admissionregistration/v1"
	"celador.io/api/admissionregistration/v1alpha1"
	"celador.io/api/admissionregistration/v1beta1"
	"celador.io/celador/pkg/apis/admissionregistration"
	"celador.io/celador/pkg/registry/admissionregistration/scheme"
)

// lifecycle holds the methods by which a server reads the lifecycle of a kind.
type lifecycle interface {
	APILifecycleIntroduced() (major, minor int)
	APILifecycleDeprecated() (major, minor int)
	APILifecycleReplacement() schema.GroupVersionKind
	APILifecycleRemoved() (major, minor int)
}

// TestLifecycleIsKubernetes compares the lifecycle of every kind and version of the group.
func TestLifecycleIsKubernetes(t *testing.T) {
	facts := func(obj runtime.Object) map[string]string {
		found, value := map[string]string{}, reflect.ValueOf(obj)
		methods := reflect.TypeFor[lifecycle]()
		for i := range methods.NumMethod() {
			name := methods.Method(i).Name
			if method := value.MethodByName(name); method.IsValid() {
				for _, result := range method.Call(nil) {
					found[name] += fmt.Sprint(result.Interface(), " ")
				}
			}
		}
		return found
	}
	for _, gv := range scheme.Scheme.PrioritizedVersionsForGroup(admissionregistration.GroupName) {
		for kind := range scheme.Scheme.KnownTypes(gv) {
			gvk := gv.WithKind(kind)
			if !strings.Contains(kind, "AdmissionPolic") {
				continue
			}
			t.Run(gv.Version+" "+kind, func(t *testing.T) {
				ours, err := scheme.Scheme.New(gvk)
				if err != nil {
					t.Fatal(err)
				}
				theirs, err := legacyscheme.Scheme.New(gvk)
				if err != nil {
					t.Fatal(err)
				}
				want := facts(theirs)
				if diff := cmp.Diff(want, facts(ours)); diff != "" || len(want) == 0 {
					t.Errorf("lifecycle (-Kubernetes +us):\n%s", diff)
				}
			})
		}
	}
}

// available lists the resources that a server serves, by version, and the versions in which it
// stores them.
type available struct {
	Served map[string][]string
	Stored map[string]string
	Err    string
}

// availability returns the resources of the provider's group that are available in a version.
// forward and explicit stand for --emulation-forward-compatible and
// --runtime-config-emulation-forward-compatible.
func availability(t *testing.T, provider controlplaneapiserver.RESTStorageProvider, enabled *serverstorage.ResourceConfig, effective basecompatibility.EffectiveVersion, forward, explicit bool) available {
	t.Helper()
	getter := newVersionGetter(t, effective)
	group, err := provider.NewRESTStorage(enabled, getter)
	if err != nil {
		t.Fatal(err)
	}
	evaluator, err := genericapiserver.NewResourceExpirationEvaluatorFromOptions(genericapiserver.ResourceExpirationEvaluatorOptions{
		CurrentVersion:                          effective.EmulationVersion(),
		EmulationForwardCompatible:              forward,
		RuntimeConfigEmulationForwardCompatible: explicit,
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := evaluator.RemoveUnavailableKinds(provider.GroupName(), group.Scheme, group.VersionedResourcesStorageMap, enabled); err != nil {
		return available{Err: err.Error()}
	}
	found := available{Served: map[string][]string{}, Stored: getter.stored}
	for version, resources := range group.VersionedResourcesStorageMap {
		found.Served[version] = slices.Sorted(maps.Keys(resources))
	}
	return found
}

// versionGetter is a RESTOptionsGetter whose stores keep nothing. It maps each resource to the
// identifier of the version in which it would be stored.
type versionGetter struct {
	*serverstorage.DefaultStorageFactory
	stored map[string]string
}

func newVersionGetter(t *testing.T, effective basecompatibility.EffectiveVersion) versionGetter {
	t.Helper()
	config := kubeapiserver.NewStorageFactoryConfigEffectiveVersion(effective)
	config.APIResourceConfig = upstreamcontrolplane.DefaultAPIResourceConfigSource()
	made, err := config.Complete(options.NewEtcdOptions(&storagebackend.Config{})).New()
	if err != nil {
		t.Fatal(err)
	}
	return versionGetter{made, map[string]string{}}
}

func (g versionGetter) GetRESTOptions(resource schema.GroupResource, example runtime.Object) (generic.RESTOptions, error) {
	config, err := g.NewConfig(resource, example)
	return generic.RESTOptions{
		StorageConfig:  config,
		ResourcePrefix: resource.Resource,
		Decorator: func(config *storagebackend.ConfigForResource, _ string, _ func(runtime.Object) (string, error), _ func() runtime.Object,
			_ func() runtime.Object, _ apistorage.AttrFunc, _ apistorage.IndexerFuncs, _ *cache.Indexers) (apistorage.Interface, factory.DestroyFunc, error) {
			g.stored[config.GroupResource.Resource] = config.EncodeVersioner.Identifier()
			return nil, func() {}, nil
		},
	}, err
}

// effectiveVersion returns the version of a 1.37 server with these values of --emulated-version and
// --min-compatibility-version.
func effectiveVersion(emulated, compatible *version.Version) basecompatibility.EffectiveVersion {
	effective := basecompatibility.NewEffectiveVersionFromString("1.37", "0.0", "0.0")
	effective.SetEmulationVersion(emulated)
	effective.SetMinCompatibilityVersion(compatible)
	return effective
}

// TestEmulatedVersions compares the available resources and their storage versions with those of
// Kubernetes' own group, for each version since the first one with policies. The only difference is
// the status of mutating policies since 1.37.
func TestEmulatedVersions(t *testing.T) {
	const first, last = 26, 37
	all := []schema.GroupVersion{v1.SchemeGroupVersion, v1beta1.SchemeGroupVersion, v1alpha1.SchemeGroupVersion}
	byDefault := upstreamcontrolplane.DefaultAPIResourceConfigSource
	for name, tc := range map[string]struct {
		config            func() *serverstorage.ResourceConfig
		forward, explicit bool
	}{
		"defaults":            {config: byDefault},
		"all versions":        {config: func() *serverstorage.ResourceConfig { return enabled(all...) }},
		"forward compatible":  {config: func() *serverstorage.ResourceConfig { return enabled(all...) }, forward: true},
		"beta":                {config: func() *serverstorage.ResourceConfig { return explicitly(byDefault(), v1beta1.SchemeGroupVersion) }},
		"beta of the future":  {config: func() *serverstorage.ResourceConfig { return explicitly(byDefault(), v1beta1.SchemeGroupVersion) }, explicit: true},
		"alpha of the future": {config: func() *serverstorage.ResourceConfig { return explicitly(byDefault(), v1alpha1.SchemeGroupVersion) }, explicit: true},
	} {
		for emulated := uint(first); emulated <= last; emulated++ {
			for compatible := uint(first - 1); compatible <= emulated; compatible++ {
				effective := effectiveVersion(version.MajorMinor(1, emulated), version.MajorMinor(1, compatible))
				t.Run(fmt.Sprintf("%s in 1.%d compatible with 1.%d", name, emulated, compatible), func(t *testing.T) {
					stock := upstreamrest.RESTStorageProvider{Authorizer: provider().Authorizer, DiscoveryClient: provider().Discovery}
					want := availability(t, stock, tc.config(), effective, tc.forward, tc.explicit)
					for version, resources := range want.Served {
						if emulated >= 37 && slices.Contains(resources, "mutatingadmissionpolicies") {
							want.Served[version] = slices.Sorted(slices.Values(append(resources, "mutatingadmissionpolicies/status")))
						}
					}
					ours := provider()
					ours.EffectiveVersion = effective
					if diff := cmp.Diff(want, availability(t, ours, tc.config(), effective, tc.forward, tc.explicit)); diff != "" {
						t.Errorf("-Kubernetes +us:\n%s", diff)
					}
				})
			}
		}
	}
}

// explicitly enables a version as --runtime-config does, and returns config.
func explicitly(config *serverstorage.ResourceConfig, version schema.GroupVersion) *serverstorage.ResourceConfig {
	config.ExplicitlyEnableVersions(version)
	return config
}

// TestStoreOutlivesRemovedVersions removes the unavailable versions of a resource, which share a
// store with v1.
func TestStoreOutlivesRemovedVersions(t *testing.T) {
	var destroyed atomic.Int32
	getter := getterFunc(func(resource schema.GroupResource, example runtime.Object) (generic.RESTOptions, error) {
		options, err := recorder{}.GetRESTOptions(resource, example)
		decorate := options.Decorator
		options.Decorator = func(config *storagebackend.ConfigForResource, prefix string, keyFunc func(runtime.Object) (string, error), newFunc func() runtime.Object,
			newListFunc func() runtime.Object, attrs apistorage.AttrFunc, triggers apistorage.IndexerFuncs, indexers *cache.Indexers) (apistorage.Interface, factory.DestroyFunc, error) {
			made, _, err := decorate(config, prefix, keyFunc, newFunc, newListFunc, attrs, triggers, indexers)
			return made, func() { destroyed.Add(1) }, err
		}
		return options, err
	})
	config := with(enabled(), v1.SchemeGroupVersion.WithResource("validatingadmissionpolicies"), v1beta1.SchemeGroupVersion.WithResource("validatingadmissionpolicies"))
	group, err := provider().NewRESTStorage(config, getter)
	if err != nil {
		t.Fatal(err)
	}
	evaluator, err := genericapiserver.NewResourceExpirationEvaluator(version.MajorMinor(1, 37))
	if err != nil {
		t.Fatal(err)
	}
	if err := evaluator.RemoveUnavailableKinds(admissionregistration.GroupName, group.Scheme, group.VersionedResourcesStorageMap, config); err != nil {
		t.Fatal(err)
	}
	if n := destroyed.Load(); n != 0 {
		t.Errorf("the store of v1 is destroyed %d times with the versions that are removed", n)
	}
	for _, storage := range group.VersionedResourcesStorageMap["v1"] {
		storage.Destroy()
	}
	if n := destroyed.Load(); n != 1 {
		t.Errorf("the store is destroyed %d times at the end, want once", n)
	}
}

// TestStatusIsUnknownBeforeItsVersion stores a status with a server of 1.37 and updates the policy
// with a server that emulates 1.36. The second server neither returns nor stores the status.
func TestStatusIsUnknownBeforeItsVersion(t *testing.T) {
	s := newServer(t, runtime.ContentTypeJSON, "", false)
	group := s.install(t, runtime.ContentTypeJSON).VersionedResourcesStorageMap["v1"]
	sent := decoded(t, scheme.Codecs.UniversalDecoder(admissionregistration.SchemeGroupVersion), mutatingManifest)
	if err := create(by(t.Context(), root, "v1"), group["mutatingadmissionpolicies"], sent); err != nil {
		t.Fatal(err)
	}
	update(t, group["mutatingadmissionpolicies/status"], "demo", func(obj runtime.Object) {
		obj.(*admissionregistration.MutatingAdmissionPolicy).Status.ObservedGeneration = 1
	})
	if stored := s.raw(t, "/mutatingadmissionpolicies/demo"); !bytes.Contains(stored, []byte(`"status":{"observedGeneration":1}`)) {
		t.Fatalf("stored by 1.37 without a status: %s", stored)
	}

	p := provider()
	p.StorageMediaType, p.EffectiveVersion = runtime.ContentTypeJSON, effectiveVersion(version.MajorMinor(1, 36), version.MajorMinor(1, 35))
	older, err := p.NewRESTStorage(enabled(v1.SchemeGroupVersion), s)
	if err != nil {
		t.Fatal(err)
	}
	for _, storage := range older.VersionedResourcesStorageMap["v1"] {
		t.Cleanup(storage.Destroy)
	}
	policies := older.VersionedResourcesStorageMap["v1"]["mutatingadmissionpolicies"]
	read, err := policies.(registryrest.Getter).Get(by(t.Context(), root, "v1"), "demo", &metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(v1.MutatingAdmissionPolicyStatus{}, read.(*admissionregistration.MutatingAdmissionPolicy).Status); diff != "" {
		t.Errorf("status (-want +got):\n%s", diff)
	}
	annotate(t, policies, "demo", "again")
	stored := s.raw(t, "/mutatingadmissionpolicies/demo")
	if want := `{"kind":"MutatingAdmissionPolicy","apiVersion":"admissionregistration.k8s.io/v1beta1"`; !bytes.HasPrefix(stored, []byte(want)) {
		t.Errorf("stored by 1.36: %s, want it to begin with %s", stored, want)
	}
	if bytes.Contains(stored, []byte(`"status"`)) {
		t.Errorf("stored by 1.36 with a status: %s", stored)
	}
	if _, _, err := legacyscheme.Codecs.UniversalDeserializer().Decode(stored, nil, nil); err != nil {
		t.Errorf("Kubernetes cannot read it: %v", err)
	}
}
