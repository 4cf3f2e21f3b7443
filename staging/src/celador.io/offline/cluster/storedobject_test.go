// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster_test

import (
	"strings"
	"testing"

	"k8s.io/apiserver/pkg/admission"

	"celador.io/offline/cluster"
	"celador.io/offline/cluster/clustertest"
)

// A server rejects a new object with a resource version. Manifests of clusters may have one.
func TestResourceVersionOfNewObject(t *testing.T) {
	const manifest = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, resourceVersion: '7'}"
	response := clustertest.Admit(t, clustertest.New(t, clustertest.Backend, manifest), &cluster.Request{Operation: admission.Create, Object: clustertest.Object(t, strings.Replace(manifest, "name: a", "name: b", 1))})
	if response.Allowed || !strings.Contains(response.Status.Error(), "resourceVersion should not be set on objects to be created") {
		t.Errorf("allowed %v, status is %v", response.Allowed, response.Status)
	}
}
