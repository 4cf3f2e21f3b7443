// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package customresources

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"celador.io/celador/test/integration/testserver"
)

// Once the server has observed a new storage version, each write is stored in that version, and the
// new schema applies (kubernetes#130235). Kubernetes' server forgets how it served the old
// definition in an event handler, which runs some time after the new definition is in its cache,
// and which waits for a lock that the server holds while it prepares to serve any other definition.
// The test makes this wait long: definitions with thousands of rules are requested for the first
// time.
func TestStorageVersionSwitch(t *testing.T) {
	store := testserver.Store(t, dataDir)
	for attempt := range 3 {
		t.Run(fmt.Sprint(attempt), func(t *testing.T) {
			group := uniqueGroup("switch")
			crd := widgets(t, group, "Namespaced", list(
				"{name: v1, served: true, storage: true}", "{name: v2, served: true, storage: false}", "{name: observed, served: true, storage: false}"))
			define(t, crd)
			created := testserver.Must(in(admin, group, "v1").Create(t.Context(), widget(group, "v1", "old"), metav1.CreateOptions{}))(t)
			expectStored(t, store, group, "old", "v1")

			var heavy []*definition
			for range 2 {
				heavy = append(heavy, heavyDefinition(t, uniqueGroup("heavy")))
				define(t, heavy[len(heavy)-1])
			}
			var requests sync.WaitGroup
			for _, crd := range heavy {
				requests.Go(func() {
					_, err := in(admin, crd.Spec.Group, "v1").List(t.Context(), metav1.ListOptions{})
					testserver.ExpectAdmitted(t, err)
				})
			}

			if err := update(t.Context(), crd.Name, func(crd *definition) {
				crd.Spec.Versions[0].Storage, crd.Spec.Versions[1].Storage = false, true
				crd.Spec.Versions[2].Served = false
				for i := range crd.Spec.Versions {
					maximum := 9.0
					spec := crd.Spec.Versions[i].Schema.OpenAPIV3Schema.Properties["spec"]
					spec.Properties["counter"] = apiextensionsv1.JSONSchemaProps{Type: "integer", Maximum: &maximum}
				}
			}); err != nil {
				t.Fatal(err)
			}
			testserver.Eventually(t, func(ctx context.Context) error {
				_, err := in(admin, group, "observed").List(ctx, metav1.ListOptions{})
				if apierrors.IsNotFound(err) {
					return nil
				}
				return fmt.Errorf("got error %w, want the version unserved", err)
			})

			// From here on the server knows the new definition.
			invalid := widget(group, "v1", "invalid")
			invalid.Object["spec"] = map[string]any{"counter": int64(10)}
			if _, err := in(admin, group, "v1").Create(t.Context(), invalid, metav1.CreateOptions{}); !apierrors.IsInvalid(err) {
				t.Errorf("got error %v, want the counter invalid", err)
			}
			created.Object["spec"] = map[string]any{"counter": int64(1)}
			_, err := in(admin, group, "v1").Update(t.Context(), created, metav1.UpdateOptions{})
			testserver.ExpectAdmitted(t, err)
			expectStored(t, store, group, "old", "v2")
			for _, version := range []string{"v1", "v2"} {
				_, err := in(admin, group, version).Create(t.Context(), widget(group, version, "new-"+version), metav1.CreateOptions{})
				testserver.ExpectAdmitted(t, err)
				expectStored(t, store, group, "new-"+version, "v2")
			}
			requests.Wait()
		})
	}
}

// expectStored expects a widget in etcd in a version.
func expectStored(t *testing.T, store *clientv3.Client, group, name, version string) {
	t.Helper()
	found, err := store.Get(t.Context(), "/registry/"+group+"/"+plural+"/"+namespace+"/"+name)
	if err != nil || len(found.Kvs) != 1 {
		t.Errorf("%s: got %v, %v, want one value", name, found, err)
		return
	}
	var stored metav1.TypeMeta
	if err := json.Unmarshal(found.Kvs[0].Value, &stored); err != nil {
		t.Errorf("%s: %v in %s", name, err, found.Kvs[0].Value)
	}
	if want := group + "/" + version; stored.APIVersion != want {
		t.Errorf("%s is stored as %s, want %s", name, stored.APIVersion, want)
	}
}

// heavyDefinition returns a definition that takes the server long to prepare.
func heavyDefinition(t testing.TB, group string) *definition {
	crd := widgets(t, group, "Namespaced", list("{name: v1, served: true, storage: true}"))
	properties := map[string]apiextensionsv1.JSONSchemaProps{}
	for i := range 1000 {
		low, high := fmt.Sprintf("low%d", i), fmt.Sprintf("high%d", i)
		properties[fmt.Sprintf("range%d", i)] = apiextensionsv1.JSONSchemaProps{
			Type:         "object",
			Properties:   map[string]apiextensionsv1.JSONSchemaProps{low: {Type: "integer"}, high: {Type: "integer"}},
			XValidations: apiextensionsv1.ValidationRules{{Rule: "!has(self." + low + ") || !has(self." + high + ") || self." + low + " <= self." + high}},
		}
	}
	crd.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"] = apiextensionsv1.JSONSchemaProps{Type: "object", Properties: properties}
	return crd
}
