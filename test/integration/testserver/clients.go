// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package testserver

import (
	"context"
	"errors"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apiextensions "k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"celador.io/client-go/clientset"
)

// Clients are clients of a server that share a configuration.
type Clients struct {
	Config      *rest.Config
	Core        kubernetes.Interface
	Policies    clientset.Interface
	Objects     dynamic.Interface
	Definitions apiextensions.Interface
}

// NewClients returns clients with the configuration.
func NewClients(config *rest.Config) (Clients, error) {
	core, coreErr := kubernetes.NewForConfig(config)
	policies, policiesErr := clientset.NewForConfig(config)
	objects, objectsErr := dynamic.NewForConfig(config)
	definitions, definitionsErr := apiextensions.NewForConfig(config)
	return Clients{config, core, policies, objects, definitions}, errors.Join(coreErr, policiesErr, objectsErr, definitionsErr)
}

// As returns clients that impersonate a user in groups.
func (c Clients) As(t testing.TB, user string, groups ...string) Clients {
	t.Helper()
	config := rest.CopyConfig(c.Config)
	config.Impersonate = rest.ImpersonationConfig{UserName: user, Groups: groups}
	return Must(NewClients(config))(t)
}

// Clients returns clients that may do everything.
func (s *Server) Clients() Clients {
	s.t.Helper()
	return Must(NewClients(s.Admin()))(s.t)
}

// Namespace creates a namespace with the labels and returns its unique name.
func (c Clients) Namespace(t testing.TB, labels map[string]string) string {
	t.Helper()
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: UniqueName("test"), Labels: labels}}
	return Must(c.Core.CoreV1().Namespaces().Create(t.Context(), namespace, metav1.CreateOptions{}))(t).Name
}

// Define creates the CustomResourceDefinition in a YAML manifest and deletes it at the end of
// the test. The server serves its resources some time later.
func (c Clients) Define(t testing.TB, manifest string) {
	t.Helper()
	client := c.Objects.Resource(schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"})
	definition := &unstructured.Unstructured{Object: Parse[map[string]any](t, manifest)}
	Must(client.Create(t.Context(), definition, metav1.CreateOptions{}))(t)
	t.Cleanup(func() {
		ExpectDeleted(t, client.Delete(context.Background(), definition.GetName(), metav1.DeleteOptions{}))
	})
}

// A Creator is a typed client of a resource.
type Creator[T any] interface {
	Create(context.Context, T, metav1.CreateOptions) (T, error)
	Delete(context.Context, string, metav1.DeleteOptions) error
}

// Create creates an object and deletes it at the end of the test. It returns the object that
// the server stored.
func Create[T metav1.Object](t testing.TB, client Creator[T], object T) T {
	t.Helper()
	created := Must(client.Create(t.Context(), object, metav1.CreateOptions{}))(t)
	t.Cleanup(func() {
		ExpectDeleted(t, client.Delete(context.Background(), created.GetName(), metav1.DeleteOptions{}))
	})
	return created
}

// Must wraps a call that returns a value and an error. It returns a function that returns the
// value, or ends the test if there is an error: Must(call())(t).
func Must[T any](value T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return value
	}
}

// ExpectDeleted fails the test with the error of a deletion, unless the object was already
// deleted.
func ExpectDeleted(t testing.TB, err error) {
	t.Helper()
	if err != nil && !apierrors.IsNotFound(err) {
		t.Error(err)
	}
}

// ExpectAdmitted fails the test with the error of a request that policies or webhooks should
// admit.
func ExpectAdmitted(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Errorf("got error %v, want the request admitted", err)
	}
}

// In returns a field of a binding's spec, as YAML, that limits the binding to a namespace.
func In(namespace string) string {
	return `matchResources: {namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: ` + namespace + `}}}`
}
