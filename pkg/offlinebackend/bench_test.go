// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package offlinebackend_test

import (
	"fmt"
	"strings"
	"testing"

	"k8s.io/apiserver/pkg/admission"

	"celador.io/offline/cluster"
	"celador.io/offline/cluster/clustertest"

	"celador.io/celador/pkg/offlinebackend"
)

// BenchmarkNew measures a cluster with one policy up to its first response.
func BenchmarkNew(b *testing.B) {
	request := &cluster.Request{Operation: admission.Create, Object: clustertest.Deployment(b, "9")}
	for b.Loop() {
		clustertest.Admit(b, clustertest.New(b, offlinebackend.KubeAPIServer, clustertest.Replicas), request)
	}
}

// BenchmarkSuite runs a suite of 1,000 cases, each tenth of which has manifests of its own.
func BenchmarkSuite(b *testing.B) {
	var text strings.Builder
	text.WriteString(guarded(b))
	for i := range 1000 {
		fmt.Fprintf(&text, "- name: case %d\n", i)
		if i%10 == 0 {
			fmt.Fprintf(&text, "  manifests: [{apiVersion: v1, kind: Namespace, metadata: {name: n%d}}]\n", i)
		}
		text.WriteString("  request: {object: {apiVersion: v1, kind: ConfigMap, metadata: {name: x, labels: {policy: size}}, data: {a: b}}}\n  expect: {decision: Allowed}\n")
	}
	for b.Loop() {
		for _, c := range runSuite(b, text.String()).Cases {
			if !c.Passed() {
				b.Fatalf("%s: error %v, mismatches %+v", c.Name, c.Err, c.Mismatches)
			}
		}
	}
}

func BenchmarkAdmit(b *testing.B) {
	c := clustertest.New(b, offlinebackend.KubeAPIServer, clustertest.Replicas)
	request := &cluster.Request{Operation: admission.Create, Object: clustertest.Deployment(b, "9")}
	for b.Loop() {
		clustertest.Admit(b, c, request)
	}
}
