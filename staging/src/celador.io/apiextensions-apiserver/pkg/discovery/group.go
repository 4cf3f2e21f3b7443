// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package discovery serves the discovery documents of custom resources.
package discovery

import (
	"cmp"
	"maps"
	"slices"

	apidiscoveryv2 "k8s.io/api/apidiscovery/v2"
	"k8s.io/apiextensions-apiserver/pkg/apihelpers"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/version"
)

// A Group holds the discovery documents of one API group of custom resources. It shares slices with
// the CRDs that it was made of, and must not be changed.
type Group struct {
	// APIGroup is the document at /apis/<group>. The first version is the preferred version.
	APIGroup metav1.APIGroup
	// Versions holds an entry for each version in APIGroup.
	Versions map[string]VersionDocuments
}

// VersionDocuments holds the discovery documents of one version of an API group. Resources are
// sorted by name.
type VersionDocuments struct {
	// Resources are listed at /apis/<group>/<version>. A subresource follows its resource.
	Resources []metav1.APIResource
	// Aggregated is the entry in the aggregated document at /apis.
	Aggregated apidiscoveryv2.APIVersionDiscovery
}

// NewGroup returns the discovery of an API group, whose CRDs are passed in any order. Only served
// versions of established CRDs count. NewGroup returns nil if there is none, because discovery
// omits such a group.
func NewGroup(name string, crds []*apiextensionsv1.CustomResourceDefinition) *Group {
	// Informers list CRDs in random order.
	crds = slices.SortedFunc(slices.Values(crds), func(a, b *apiextensionsv1.CustomResourceDefinition) int {
		return cmp.Or(cmp.Compare(a.Status.AcceptedNames.Plural, b.Status.AcceptedNames.Plural), cmp.Compare(a.Name, b.Name))
	})
	versions := map[string]VersionDocuments{}
	for _, crd := range crds {
		if !apihelpers.IsCRDConditionTrue(crd, apiextensionsv1.Established) {
			continue
		}
		for i := range crd.Spec.Versions {
			if v := &crd.Spec.Versions[i]; v.Served {
				versions[v.Name] = versions[v.Name].with(crd, v)
			}
		}
	}
	if len(versions) == 0 {
		return nil
	}
	group := metav1.APIGroup{Name: name}
	for _, v := range slices.SortedFunc(maps.Keys(versions), preferredFirst) {
		group.Versions = append(group.Versions, metav1.GroupVersionForDiscovery{GroupVersion: name + "/" + v, Version: v})
	}
	group.PreferredVersion = group.Versions[0]
	return &Group{group, versions}
}

func preferredFirst(a, b string) int { return version.CompareKubeAwareVersionStrings(b, a) }
