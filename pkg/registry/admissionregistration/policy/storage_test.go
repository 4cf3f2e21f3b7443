// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package policy_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/registry/generic"
	"k8s.io/apiserver/pkg/registry/rest"
	etcdtesting "k8s.io/apiserver/pkg/storage/etcd3/testing"

	v1 "celador.io/api/admissionregistration/v1"
	"celador.io/celador/pkg/registry/admissionregistration/policy"
	"celador.io/celador/pkg/registry/admissionregistration/scheme"
)

// store returns the storage of a kind and of its status in an etcd of its own.
func (k descriptor) store(t *testing.T) (*policy.REST, *policy.StatusREST) {
	t.Helper()
	return k.storeBeside(t, notServed)
}

// storeBeside returns the storage that store returns, beside other storage.
func (k descriptor) storeBeside(t *testing.T, beside policy.ListerGetter) (*policy.REST, *policy.StatusREST) {
	t.Helper()
	_, config := etcdtesting.NewUnsecuredEtcd3TestClientServer(t)
	config.Codec = scheme.Codecs.LegacyCodec(v1.SchemeGroupVersion)
	resource, status, err := k.storage(generic.RESTOptions{
		StorageConfig:  config.ForResource(schema.GroupResource{}),
		ResourcePrefix: "objects",
		Decorator:      generic.UndecoratedStorage,
	}, beside)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(resource.Destroy)
	return resource, status
}

// unstored clears the metadata that the server sets.
func unstored(obj policy.APIObject) {
	obj.SetUID("")
	obj.SetResourceVersion("")
	obj.SetCreationTimestamp(metav1.Time{})
	obj.SetGeneration(0)
}

func TestWrites(t *testing.T) {
	for _, k := range kinds() {
		t.Run(k.name, func(t *testing.T) {
			resource, _ := k.store(t)
			if _, err := resource.Create(byAlice(), k.demo(unstored, k.hidden), rest.ValidateAllObjectFunc, &metav1.CreateOptions{}); !apierrors.IsInvalid(err) {
				t.Errorf("params that alice must not read: got error %v, want invalid", err)
			}
			created, err := resource.Create(byAlice(), k.demo(unstored), rest.ValidateAllObjectFunc, &metav1.CreateOptions{})
			if err != nil {
				t.Fatal(err)
			}
			stored, err := resource.Get(byAlice(), "demo", &metav1.GetOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(created, stored); diff != "" {
				t.Errorf("stored object (-created +stored):\n%s", diff)
			}
			update := func(obj policy.APIObject) (policy.APIObject, error) {
				updated, _, err := resource.Update(byAlice(), "demo", rest.DefaultUpdatedObjectInfo(obj), rest.ValidateAllObjectFunc, rest.ValidateAllObjectUpdateFunc, false, &metav1.UpdateOptions{})
				if err != nil {
					return nil, err
				}
				return updated.(policy.APIObject), nil
			}
			sent := stored.DeepCopyObject().(policy.APIObject)
			k.other(sent)
			updated, err := update(sent)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(specOf(k.demo(k.other)), specOf(updated)); diff != "" || updated.GetGeneration() != 2 {
				t.Errorf("got generation %d, want 2; spec (-want +got):\n%s", updated.GetGeneration(), diff)
			}
			sent = updated.DeepCopyObject().(policy.APIObject)
			sent.SetResourceVersion("")
			if _, err := update(sent); !apierrors.IsInvalid(err) {
				t.Errorf("update without a resourceVersion: got error %v, want invalid", err)
			}
		})
	}
}

func TestDiscovery(t *testing.T) {
	for _, k := range kinds() {
		t.Run(k.name, func(t *testing.T) {
			resource, _ := k.store(t)
			if got, want := resource.GetSingularName(), strings.ToLower(k.name); got != want {
				t.Errorf("got singular name %q, want %q", got, want)
			}
			if diff := cmp.Diff([]string{"api-extensions"}, resource.Categories()); diff != "" {
				t.Errorf("categories (-want +got):\n%s", diff)
			}
			if resource.NamespaceScoped() {
				t.Error("got a namespaced resource, want a cluster-scoped one")
			}
		})
	}
}
