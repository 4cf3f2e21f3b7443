// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package customresources

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"k8s.io/apiextensions-apiserver/pkg/apihelpers"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"celador.io/celador/test/integration/testserver"
)

// A definition that is being deleted waits for its objects. Meanwhile nobody can create others.
func TestTerminating(t *testing.T) {
	t.Parallel()
	group := uniqueGroup("terminating")
	crd := widgets(t, group, "Namespaced", "{name: v1, served: true, storage: true, subresources: {status: {}}}")
	define(t, crd)
	client := in(admin, group, "v1")
	held := widget(group, "v1", "held")
	held.SetFinalizers([]string{"example.com/hold"})
	testserver.Must(client.Create(t.Context(), held, metav1.CreateOptions{}))(t)
	testserver.Must(client.Create(t.Context(), widget(group, "v1", "free"), metav1.CreateOptions{}))(t)

	if err := definitions().Delete(t.Context(), crd.Name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	testserver.Eventually(t, func(ctx context.Context) error {
		crd, err := definitions().Get(ctx, crd.Name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		if !apihelpers.IsCRDConditionTrue(crd, apiextensionsv1.Terminating) {
			return errors.New("not terminating")
		}
		return nil
	})

	// Upstream's finalizer deletes all objects; this one has a finalizer of its own.
	testserver.Eventually(t, func(ctx context.Context) error {
		objects, err := client.List(ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		if len(objects.Items) != 1 || objects.Items[0].GetName() != "held" || objects.Items[0].GetDeletionTimestamp() == nil {
			return fmt.Errorf("got %v, want only the object with a finalizer, which is being deleted", objects.Items)
		}
		return nil
	})

	const forbidden = "create not allowed while custom resource definition is terminating"
	apply := metav1.ApplyOptions{FieldManager: "test", Force: true}
	for name, create := range map[string]func() error{
		"create": func() error {
			_, err := client.Create(t.Context(), widget(group, "v1", "new"), metav1.CreateOptions{})
			return err
		},
		"create, dry run": func() error {
			_, err := client.Create(t.Context(), widget(group, "v1", "new"), metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
			return err
		},
		"apply": func() error {
			_, err := client.Apply(t.Context(), "new", widget(group, "v1", "new"), apply)
			return err
		},
	} {
		if err := create(); !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), forbidden) {
			t.Errorf("%s: got error %v, want %q", name, err, forbidden)
		}
	}
	if _, err := client.Patch(t.Context(), "new", types.MergePatchType, []byte(`{"spec": {"counter": 1}}`), metav1.PatchOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("merge patch of a missing object: got error %v, want not found", err)
	}

	// Requests for existing objects are admitted.
	current, err := client.Get(t.Context(), "held", metav1.GetOptions{})
	testserver.ExpectAdmitted(t, err)
	current.Object["spec"] = map[string]any{"counter": int64(1)}
	_, err = client.Update(t.Context(), current, metav1.UpdateOptions{})
	testserver.ExpectAdmitted(t, err)
	_, err = client.Apply(t.Context(), "held", widget(group, "v1", "held"), apply)
	testserver.ExpectAdmitted(t, err)
	_, err = client.Patch(t.Context(), "held", types.MergePatchType, []byte(`{"spec": {"counter": 2}}`), metav1.PatchOptions{}, "status")
	testserver.ExpectAdmitted(t, err)
	testserver.ExpectAdmitted(t, client.Delete(t.Context(), "held", metav1.DeleteOptions{}))
	testserver.ExpectAdmitted(t, client.DeleteCollection(t.Context(), metav1.DeleteOptions{}, metav1.ListOptions{}))

	testserver.Eventually(t, func(context.Context) error {
		resources, err := admin.Core.Discovery().ServerResourcesForGroupVersion(group + "/v1")
		if err != nil {
			return err
		}
		if got, want := fmt.Sprint(resources.APIResources[0].Verbs), "[delete deletecollection get list watch]"; got != want {
			return fmt.Errorf("discovery has verbs %s, want %s", got, want)
		}
		return nil
	})

	_, err = client.Patch(t.Context(), "held", types.JSONPatchType, []byte(`[{"op": "remove", "path": "/metadata/finalizers"}]`), metav1.PatchOptions{})
	testserver.ExpectAdmitted(t, err)
	if err := gone(t.Context(), crd.Name); err != nil {
		t.Error(err)
	}
	testserver.Eventually(t, func(ctx context.Context) error {
		if _, err := client.List(ctx, metav1.ListOptions{}); !apierrors.IsNotFound(err) {
			return fmt.Errorf("list: got error %w, want not found", err)
		}
		_, err := admin.Core.Discovery().ServerResourcesForGroupVersion(group + "/v1")
		if !apierrors.IsNotFound(err) {
			return fmt.Errorf("discovery: got error %w, want not found", err)
		}
		return nil
	})
}
