// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"
	upstream "k8s.io/kubernetes/pkg/controlplane"
)

func TestWithoutGroup(t *testing.T) {
	ours := schema.GroupVersion{Group: "admissionregistration.k8s.io", Version: "v1"}
	apps := schema.GroupVersion{Group: "apps", Version: "v1"}
	policies, deployments := ours.WithResource("validatingadmissionpolicies"), apps.WithResource("deployments")

	all := upstream.DefaultAPIResourceConfigSource()
	all.ExplicitlyEnableVersions(ours, apps)
	all.ExplicitlyEnableResources(policies, deployments)
	rest := withoutGroup{all, ours.Group}

	for name, got := range map[string]bool{
		"resource":          rest.ResourceEnabled(policies),
		"group":             rest.AnyResourceForGroupEnabled(ours.Group),
		"explicit resource": rest.ResourceExplicitlyEnabled(policies),
		"explicit version":  rest.VersionExplicitlyEnabled(ours),
		"unknown version":   rest.ResourceEnabled(schema.GroupVersionResource{Group: "apps", Version: "v9", Resource: "deployments"}),
	} {
		if got {
			t.Errorf("%s is still enabled", name)
		}
	}
	for name, got := range map[string]bool{
		"resource":          rest.ResourceEnabled(deployments),
		"group":             rest.AnyResourceForGroupEnabled(apps.Group),
		"explicit resource": rest.ResourceExplicitlyEnabled(deployments),
		"explicit version":  rest.VersionExplicitlyEnabled(apps),
	} {
		if !got {
			t.Errorf("%s of another group is no longer enabled", name)
		}
	}
}
