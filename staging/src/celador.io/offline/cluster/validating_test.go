// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster_test

import (
	"testing"

	"k8s.io/apiserver/pkg/admission"

	"celador.io/offline/cluster"
	"celador.io/offline/cluster/clustertest"
)

func TestValidatingPolicy(t *testing.T) {
	c := clustertest.New(t, clustertest.Backend, clustertest.Replicas)
	response := clustertest.Admit(t, c, &cluster.Request{Operation: admission.Create, Object: clustertest.Deployment(t, "9")})
	if response.Allowed {
		t.Fatal("9 replicas are allowed")
	}
	const want = `deployments.apps "web" is forbidden: ValidatingAdmissionPolicy 'replicas.example.com' with binding 'everywhere' denied request: at most 5 replicas, not 9`
	if got := response.Status.Error(); got != want {
		t.Errorf("status is %q, want %q", got, want)
	}
	response = clustertest.Admit(t, c, &cluster.Request{Operation: admission.Update, Object: clustertest.Deployment(t, "3"), OldObject: clustertest.Deployment(t, "9")})
	if !response.Allowed {
		t.Errorf("3 replicas are rejected: %v", response.Status)
	}
}
