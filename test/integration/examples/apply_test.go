// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package examples

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"celador.io/celador/test/integration/testserver"
)

// A manager moves its manifest to another version and back, next to a manager that does not.
func testApply(t *testing.T, admin testserver.Clients) {
	for _, directory := range converted {
		t.Run(directory, func(t *testing.T) {
			e := &example{directory, admin}
			if _, err := admin.Objects.Resource(definitions).Create(t.Context(), e.read(t, "definition"), metav1.CreateOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
				t.Fatal(err)
			}
			clients := e.clients(t)
			for _, file := range e.files(t) {
				name, version := e.split(file)
				if clients[version] == nil {
					continue // the result of a conversion back
				}
				for other := range clients {
					if other != version {
						t.Run(file+" to "+other, func(t *testing.T) { e.move(t, clients, file, name+"-"+other, e.canonical, false) })
						t.Run(file+" to "+other+", as written", func(t *testing.T) { e.move(t, clients, file, name+"-"+other, e.read, true) })
					}
				}
			}
		})
	}
}

// canonical returns what the server returns for the manifest in a file: the result of a conversion
// to the other version and back.
func (e *example) canonical(t *testing.T, file string) *unstructured.Unstructured {
	t.Helper()
	if slices.Contains(e.files(t), file+"-back") {
		file += "-back"
	}
	return e.read(t, file)
}

// move applies the manifests that read reads in two files, of which the second one is the first one
// in another version. force is for the second manager: a manifest that has not the form that the
// server returns, with its defaults and texts, conflicts with itself.
func (e *example) move(t *testing.T, clients map[string]dynamic.ResourceInterface, file, converted string, read func(*testing.T, string) *unstructured.Unstructured, force bool) {
	_, version := e.split(file)
	_, other := e.split(converted)
	manifests := map[string]*unstructured.Unstructured{version: read(t, file), other: read(t, converted)}
	results := map[string]*unstructured.Unstructured{version: e.canonical(t, file), other: e.canonical(t, converted)}
	name := manifests[version].GetName()
	t.Cleanup(func() {
		if err := clients[version].Delete(context.Background(), name, metav1.DeleteOptions{}); err != nil && !apierrors.IsNotFound(err) {
			t.Error(err)
		}
	})
	apply := func(manager, version string, force bool, change func(*unstructured.Unstructured)) (*unstructured.Unstructured, error) {
		manifest := manifests[version].DeepCopy()
		if change != nil {
			change(manifest)
		}
		text, err := json.Marshal(manifest)
		if err != nil {
			t.Fatal(err)
		}
		return clients[version].Patch(t.Context(), name, types.ApplyPatchType, text, metav1.PatchOptions{FieldManager: manager, Force: &force})
	}
	label := func(value string) func(*unstructured.Unstructured) {
		return func(manifest *unstructured.Unstructured) { manifest.SetLabels(map[string]string{"owner": value}) }
	}
	labelOnly := func(manifest *unstructured.Unstructured) {
		label("b")(manifest)
		manifest.SetAnnotations(nil)
		delete(manifest.Object, "spec")
	}
	expectApplied := func(what string, manifest string, got *unstructured.Unstructured, err error) {
		t.Helper()
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		if diff := cmp.Diff(results[manifest].Object["spec"], got.Object["spec"]); diff != "" {
			t.Errorf("%s: spec (-want +got):\n%s", what, diff)
		}
	}

	got, err := apply("flux", version, false, label("a"))
	expectApplied("create", version, got, err)
	// Another manager owns the same values in the same version and does not move.
	got, err = apply("argo", version, force, nil)
	expectApplied("another manager", version, got, err)
	for range 2 {
		got, err = apply("flux", other, false, label("a"))
		expectApplied("upgrade", other, got, err)
		got, err = apply("flux", version, false, label("a"))
		expectApplied("downgrade", version, got, err)
	}
	got, err = apply("flux", other, true, label("a"))
	expectApplied("forced upgrade", other, got, err)
	got, err = apply("argo", other, force, nil)
	expectApplied("upgrade of the other manager", other, got, err)

	for _, in := range []string{version, other} {
		if _, err := apply("kustomize", in, false, label("b")); !apierrors.IsConflict(err) || !strings.Contains(err.Error(), `"flux"`) {
			t.Errorf("%s: got error %v, want a conflict with flux", in, err)
		}
		if _, err := clients[in].Get(t.Context(), name, metav1.GetOptions{}); err != nil {
			t.Error(err)
		}
	}
	if got, err = apply("kustomize", version, true, labelOnly); err != nil || got.GetLabels()["owner"] != "b" {
		t.Errorf("forced: got %v, %v, want the label", got, err)
	}
	if got, err = apply("kustomize", other, false, labelOnly); err != nil || got.GetLabels()["owner"] != "b" {
		t.Errorf("upgrade of the label: got %v, %v, want the label", got, err)
	}
	// The fields of a manager that gives them up stay as long as another one owns them.
	if _, err = apply("argo", version, false, labelOnly); err != nil {
		t.Fatal(err)
	}
	got, err = apply("flux", other, true, label("a"))
	expectApplied("the only manager", other, got, err)
}
