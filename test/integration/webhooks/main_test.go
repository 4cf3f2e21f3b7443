// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package webhooks tests which requests reach admission webhooks that have match
// conditions, and what becomes of those requests. All tests share one server with default
// flags; each writes into namespaces of its own, to which it limits its webhooks.
package webhooks

import (
	"errors"
	"os"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"celador.io/celador/test/integration/testserver"
)

var (
	// admin is the configuration of a client that may do everything.
	admin *rest.Config
	// core and objects are clients with it.
	core    kubernetes.Interface
	objects dynamic.Interface
)

func TestMain(m *testing.M) {
	os.Exit(testserver.Main(m, func(config *rest.Config) error {
		var err, coreErr error
		admin = config
		core, coreErr = kubernetes.NewForConfig(config)
		objects, err = dynamic.NewForConfig(config)
		return errors.Join(err, coreErr)
	}))
}

// namespace creates a namespace and returns its name.
func namespace(t *testing.T) string {
	t.Helper()
	sent := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: testserver.UniqueName("test")}}
	return must(core.CoreV1().Namespaces().Create(t.Context(), sent, metav1.CreateOptions{}))(t).Name
}

// newConfigMap creates a config map with the mark.
func newConfigMap(t *testing.T, client kubernetes.Interface, namespace, mark string) (*corev1.ConfigMap, error) {
	t.Helper()
	sent := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: testserver.UniqueName("data")}, Data: map[string]string{"mark": mark}}
	return client.CoreV1().ConfigMaps(namespace).Create(t.Context(), sent, metav1.CreateOptions{})
}

// as returns a client of a user in groups, who may do what the roles of all of them allow.
func as(t *testing.T, user string, groups ...string) kubernetes.Interface {
	t.Helper()
	config := rest.CopyConfig(admin)
	config.Impersonate = rest.ImpersonationConfig{UserName: user, Groups: groups}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// must returns a function that returns the value, or ends the test with the error.
func must[T any](value T, err error) func(*testing.T) T {
	return func(t *testing.T) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return value
	}
}

// expectGone wants that a deletion at the end of a test found the object, or that it was gone
// already.
func expectGone(t *testing.T, err error) {
	t.Helper()
	if err != nil && !apierrors.IsNotFound(err) {
		t.Error(err)
	}
}

// expectAdmitted wants no error.
func expectAdmitted(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Errorf("got error %v, want the request admitted", err)
	}
}
