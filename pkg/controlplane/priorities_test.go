// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"maps"
	"testing"
	_ "unsafe" // go:linkname

	"k8s.io/apimachinery/pkg/runtime/schema"
	_ "k8s.io/kubernetes/cmd/kube-apiserver/app"
	controlplaneapiserver "k8s.io/kubernetes/pkg/controlplane/apiserver"
)

// upstreamPriorities is not exported upstream.
//
//go:linkname upstreamPriorities k8s.io/kubernetes/cmd/kube-apiserver/app.apiVersionPriorities
var upstreamPriorities map[schema.GroupVersion]controlplaneapiserver.APIServicePriority

func TestPrioritiesAreUpstreams(t *testing.T) {
	if len(upstreamPriorities) == 0 {
		t.Fatal("upstream's priorities are not where they were")
	}
	got := apiServicePriorities()
	for version, want := range upstreamPriorities {
		if got[version] != want {
			t.Errorf("%s: got %v, want %v", version, got[version], want)
		}
		delete(got, version)
	}
	for version := range maps.Keys(got) {
		t.Errorf("%s: has no priority upstream", version)
	}
}
