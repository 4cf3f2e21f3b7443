// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package webhooks tests which requests reach admission webhooks with match conditions, and the
// results of those requests. All tests share one server with default flags; each limits its
// webhooks to its own namespaces.
package webhooks

import (
	"os"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"

	"celador.io/celador/test/integration/testserver"
)

var (
	// admin are clients that may do everything.
	admin   testserver.Clients
	core    kubernetes.Interface
	objects dynamic.Interface
)

func TestMain(m *testing.M) {
	os.Exit(testserver.Main(m, func(clients testserver.Clients) {
		admin, core, objects = clients, clients.Core, clients.Objects
	}))
}

// newConfigMap creates a config map with a mark.
func newConfigMap(t *testing.T, client kubernetes.Interface, namespace, mark string) (*corev1.ConfigMap, error) {
	t.Helper()
	sent := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: testserver.UniqueName("data")}, Data: map[string]string{"mark": mark}}
	return client.CoreV1().ConfigMaps(namespace).Create(t.Context(), sent, metav1.CreateOptions{})
}
