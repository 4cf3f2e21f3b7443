// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package webhooks

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/restmapper"

	"celador.io/celador/test/integration/testserver"
	"celador.io/celador/test/integration/webhookserver"
)

// example is a folder of manifests with a webhook that the hook implements.
type example struct {
	t    *testing.T
	dir  string
	hook *webhookserver.Admission
}

func (e example) parse(file string) *unstructured.Unstructured {
	e.t.Helper()
	text := testserver.Must(os.ReadFile(filepath.Join("..", "..", "..", "examples", e.dir, file)))(e.t)
	return &unstructured.Unstructured{Object: testserver.Parse[map[string]any](e.t, string(text))}
}

// install applies the namespace, the files, and then the webhook until the end of the test.
func (e example) install(files ...string) {
	e.t.Helper()
	e.apply("namespace.yaml")
	// Pods need a service account, which no controller creates.
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "default"}}
	if _, err := core.CoreV1().ServiceAccounts("demo").Create(e.t.Context(), account, metav1.CreateOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
		e.t.Fatal(err)
	}
	for _, file := range files {
		e.apply(file)
	}

	configuration := e.parse("webhook.yaml")
	// The manifest is valid, but refers to a service.
	testserver.Must(configurations(configuration.GetKind()).Create(e.t.Context(), configuration, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}}))(e.t)
	webhooks := configuration.Object["webhooks"].([]any)
	if len(webhooks) != 1 {
		e.t.Fatalf("got %d webhooks, want one", len(webhooks))
	}
	clientConfig := e.hook.ClientConfig("")
	webhooks[0].(map[string]any)["clientConfig"] = map[string]any{"url": *clientConfig.URL, "caBundle": clientConfig.CABundle}
	// A webhook that matches everything must be deleted before the hook stops.
	e.t.Cleanup(func() { settle(e.t, configuration.GetKind()) })
	e.applyObject(configuration)
	settle(e.t, configuration.GetKind())
	e.hook.Take()
}

func (e example) apply(file string) {
	e.t.Helper()
	e.applyObject(e.parse(file))
}

func (e example) applyObject(obj *unstructured.Unstructured) {
	e.t.Helper()
	mapper := restmapper.NewDiscoveryRESTMapper(testserver.Must(restmapper.GetAPIGroupResources(core.Discovery()))(e.t))
	mapping := testserver.Must(mapper.RESTMapping(obj.GroupVersionKind().GroupKind(), obj.GroupVersionKind().Version))(e.t)
	client := objects.Resource(mapping.Resource).Namespace(obj.GetNamespace())
	testserver.Must(client.Apply(e.t.Context(), obj.GetName(), obj, metav1.ApplyOptions{FieldManager: "test"}))(e.t)
	// A deleted namespace would remain, because no controller finalizes it.
	if obj.GetKind() != "Namespace" {
		e.t.Cleanup(func() {
			testserver.ExpectDeleted(e.t, client.Delete(context.Background(), obj.GetName(), metav1.DeleteOptions{}))
		})
	}
}

// expectSent checks whether the webhook was called for the named object since the last check. It
// may have been called for others.
func (e example) expectSent(name string, want bool) {
	e.t.Helper()
	got := slices.ContainsFunc(e.hook.Take(), func(call webhookserver.Call) bool {
		return call.Review.Request.Namespace == "demo" && call.Review.Request.Name == name
	})
	if got != want {
		e.t.Errorf("%s is sent to the webhook: got %t, want %t", name, got, want)
	}
}
