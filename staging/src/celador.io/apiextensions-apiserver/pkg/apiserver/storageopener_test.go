// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"errors"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"celador.io/apiextensions-apiserver/pkg/crdtest"
)

// A storage is opened without a request, and is outdated as soon as the CustomResourceDefinition
// changes or is gone.
func TestStorageOpener(t *testing.T) {
	f := newFixture(t)
	defer f.destroy()
	opener := &StorageOpener{newHandler(f)}
	crd := widgets()
	crd.Spec.Versions[1].Served = false
	f.set(crd)
	open := func(resource, version string) *OpenedStorage {
		t.Helper()
		opened, err := opener.Open(t.Context(), schema.GroupVersionResource{Group: "example.com", Version: version, Resource: resource})
		if err != nil {
			t.Fatal(err)
		}
		return opened
	}
	isOutdated := func(opened *OpenedStorage) bool {
		select {
		case <-opened.Outdated:
			return true
		default:
			return false
		}
	}
	for resource, version := range map[string]string{"gadgets": "v1", "widgets": "v2"} {
		if opened := open(resource, version); opened != nil {
			t.Errorf("%s has %v in %s", resource, opened, version)
		}
	}
	first := open("widgets", "v1")
	if first == nil || first.Store.NewFunc().GetObjectKind().GroupVersionKind().Version != "v1" || !first.Store.NamespaceScoped() || isOutdated(first) {
		t.Fatalf("opened %v", first)
	}
	if again := open("widgets", "v1"); again.Store != first.Store {
		t.Error("the storage was opened twice")
	}
	changed := f.set(crdtest.Updated(crd, func(spec *apiextensionsv1.CustomResourceDefinitionSpec) { spec.Scope = apiextensionsv1.ClusterScoped }))
	f.update(changed)
	second := open("widgets", "v1")
	if !isOutdated(first) || second.Store.NamespaceScoped() || isOutdated(second) {
		t.Error("the storage has the old scope")
	}
	_ = f.crds.Delete(changed)
	f.remove(changed.UID)
	if !isOutdated(second) || open("widgets", "v1") != nil {
		t.Error("the storage outlives the CustomResourceDefinition")
	}

	f.set(widgets())
	f.building = func(*apiextensionsv1.CustomResourceDefinition) error { return errors.New("no connection") }
	if _, err := opener.Open(t.Context(), schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "widgets"}); err == nil || err.Error() != "no connection" {
		t.Errorf("got error %v", err)
	}
}
