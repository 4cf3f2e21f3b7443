// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package builtin_test

import (
	"testing"

	"k8s.io/apiserver/pkg/admission"

	"celador.io/offline/cluster"
)

// BenchmarkNew measures a cluster with one policy up to its first review.
func BenchmarkNew(b *testing.B) {
	request := &cluster.Request{Operation: admission.Create, Object: deploymentOf(b, "9")}
	for b.Loop() {
		admit(b, newCluster(b, replicas), request)
	}
}

func BenchmarkAdmit(b *testing.B) {
	c := newCluster(b, replicas)
	request := &cluster.Request{Operation: admission.Create, Object: deploymentOf(b, "9")}
	for b.Loop() {
		admit(b, c, request)
	}
}
