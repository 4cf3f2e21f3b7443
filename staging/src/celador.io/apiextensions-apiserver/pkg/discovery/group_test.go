// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package discovery_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	apidiscoveryv2 "k8s.io/api/apidiscovery/v2"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/endpoints/discovery"

	ours "celador.io/apiextensions-apiserver/pkg/discovery"
)

const group = "example.com"

func TestNewGroup(t *testing.T) {
	all := metav1.Verbs{"delete", "deletecollection", "get", "list", "patch", "create", "update", "watch"}
	readUpdate := metav1.Verbs{"get", "patch", "update"}
	foo := &metav1.GroupVersionKind{Group: group, Version: "v1", Kind: "Foo"}
	version := metav1.GroupVersionForDiscovery{GroupVersion: "example.com/v1", Version: "v1"}
	want := &ours.Group{
		APIGroup: metav1.APIGroup{Name: group, Versions: []metav1.GroupVersionForDiscovery{version}, PreferredVersion: version},
		Versions: map[string]ours.VersionDocuments{"v1": {
			Resources: []metav1.APIResource{
				{
					Name: "foos", SingularName: "foo", Kind: "Foo", ShortNames: []string{"f"}, Categories: []string{"all"}, Namespaced: true, Verbs: all,
					StorageVersionHash: discovery.StorageVersionHash(group, "v1", "Foo"),
				},
				{Name: "foos/status", Kind: "Foo", Namespaced: true, Verbs: readUpdate},
				{Name: "foos/scale", Group: "autoscaling", Version: "v1", Kind: "Scale", Namespaced: true, Verbs: readUpdate},
			},
			Aggregated: apidiscoveryv2.APIVersionDiscovery{
				Version: "v1", Freshness: apidiscoveryv2.DiscoveryFreshnessCurrent,
				Resources: []apidiscoveryv2.APIResourceDiscovery{{
					Resource: "foos", SingularResource: "foo", ResponseKind: foo, Scope: apidiscoveryv2.ScopeNamespace, Verbs: all,
					ShortNames: []string{"f"}, Categories: []string{"all"},
					Subresources: []apidiscoveryv2.APISubresourceDiscovery{
						{Subresource: "status", ResponseKind: foo, Verbs: readUpdate},
						{Subresource: "scale", ResponseKind: &metav1.GroupVersionKind{Group: "autoscaling", Version: "v1", Kind: "Scale"}, Verbs: readUpdate},
					},
				}},
			},
		}},
	}
	got := ours.NewGroup(group, []*definition{define("foos", group, namespaced, versions("v1 served stored status scale"))})
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// Each want lists the versions in order, each with its resources.
func TestVersions(t *testing.T) {
	tests := map[string]struct {
		crds []*definition
		want []string
	}{
		"none":                    {},
		"not established":         {crds: []*definition{define("foos", group, notEstablished)}},
		"no condition":            {crds: []*definition{define("foos", group, func(crd *definition) { crd.Status.Conditions = nil })}},
		"no served version":       {crds: []*definition{define("foos", group, versions("v1 stored"))}},
		"one of two established":  {crds: []*definition{define("foos", group, notEstablished), define("bars", group)}, want: []string{"v1 [bars]"}},
		"unserved version":        {crds: []*definition{define("foos", group, versions("v1 served stored", "v2"))}, want: []string{"v1 [foos]"}},
		"most stable first":       {crds: []*definition{define("foos", group, versions("v1beta1 served", "other served", "v1 served stored", "v10alpha1 served", "v2 served"))}, want: []string{"v2 [foos]", "v1 [foos]", "v1beta1 [foos]", "v10alpha1 [foos]", "other [foos]"}},
		"sorted by name":          {crds: []*definition{define("foos", group), define("bazs", group), define("bars", group)}, want: []string{"v1 [bars bazs foos]"}},
		"different versions":      {crds: []*definition{define("foos", group), define("bars", group, versions("v1 served stored", "v2 served"))}, want: []string{"v2 [bars]", "v1 [bars foos]"}},
		"subresources by version": {crds: []*definition{define("foos", group, versions("v1 served stored status", "v2 served scale"))}, want: []string{"v2 [foos foos/scale]", "v1 [foos foos/status]"}},
		"resources first":         {crds: []*definition{define("foos", group, versions("v1 served stored status")), define("bars", group, versions("v1 served stored scale"))}, want: []string{"v1 [bars bars/scale foos foos/status]"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			for range 2 {
				var got []string
				if documents := ours.NewGroup(group, test.crds); documents != nil {
					for _, version := range documents.APIGroup.Versions {
						var resources []string
						for _, resource := range documents.Versions[version.Version].Resources {
							resources = append(resources, resource.Name)
						}
						got = append(got, fmt.Sprint(version.Version, " ", resources))
					}
					if documents.APIGroup.PreferredVersion != documents.APIGroup.Versions[0] {
						t.Errorf("preferred version %v, want the first", documents.APIGroup.PreferredVersion)
					}
					if listed, held := len(documents.APIGroup.Versions), len(documents.Versions); listed != held {
						t.Errorf("%d versions listed, documents of %d", listed, held)
					}
				}
				if diff := cmp.Diff(test.want, got); diff != "" {
					t.Errorf("-want +got:\n%s", diff)
				}
				slices.Reverse(test.crds)
			}
		})
	}
}

func TestVerbs(t *testing.T) {
	documents := ours.NewGroup(group, []*definition{define("foos", group, condition(apiextensionsv1.Terminating), versions("v1 served stored status"))})
	version := documents.Versions["v1"]
	want := []string{"delete", "deletecollection", "get", "list", "watch"}
	if diff := cmp.Diff(metav1.Verbs(want), version.Resources[0].Verbs); diff != "" {
		t.Errorf("terminating, -want +got:\n%s", diff)
	}
	if diff := cmp.Diff(want, version.Aggregated.Resources[0].Verbs); diff != "" {
		t.Errorf("terminating, aggregated, -want +got:\n%s", diff)
	}
	if diff := cmp.Diff(metav1.Verbs{"get", "patch", "update"}, version.Resources[1].Verbs); diff != "" {
		t.Errorf("status of terminating, -want +got:\n%s", diff)
	}
}

func TestStorageVersionHash(t *testing.T) {
	tests := map[string]struct {
		crd  *definition
		want string
	}{
		"stored version, in another": {define("foos", group, versions("v1 served", "v2 served stored")), discovery.StorageVersionHash(group, "v2", "Foo")},
		"stored version not served":  {define("foos", group, versions("v1 served", "v2 stored")), ""},
		"requested kind":             {define("foos", group, renamed), discovery.StorageVersionHash(group, "v1", "Requested")},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			resource := ours.NewGroup(group, []*definition{test.crd}).Versions["v1"].Resources[0]
			if resource.StorageVersionHash != test.want {
				t.Errorf("hash %q, want %q", resource.StorageVersionHash, test.want)
			}
			if resource.Kind != "Foo" {
				t.Errorf("kind %q, want the accepted one", resource.Kind)
			}
		})
	}
}
