// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package discovery

import (
	apidiscoveryv2 "k8s.io/api/apidiscovery/v2"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	"k8s.io/apiextensions-apiserver/pkg/apihelpers"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/endpoints/discovery"
)

// These are the verbs in Kubernetes' order, which is part of the documents.
var (
	verbs            = metav1.Verbs{"delete", "deletecollection", "get", "list", "patch", "create", "update", "watch"}
	terminatingVerbs = metav1.Verbs{"delete", "deletecollection", "get", "list", "watch"}
	subresourceVerbs = metav1.Verbs{"get", "patch", "update"}

	scaleKind = metav1.GroupVersionKind(autoscalingv1.SchemeGroupVersion.WithKind("Scale"))
)

// with returns v with the discovery of a CRD's resource and subresources appended, as the CRD
// declares them for the given version.
func (v VersionDocuments) with(crd *apiextensionsv1.CustomResourceDefinition, version *apiextensionsv1.CustomResourceDefinitionVersion) VersionDocuments {
	names := &crd.Status.AcceptedNames
	kind := metav1.GroupVersionKind{Group: crd.Spec.Group, Version: version.Name, Kind: names.Kind}
	namespaced, scope := false, apidiscoveryv2.ScopeCluster
	if crd.Spec.Scope == apiextensionsv1.NamespaceScoped {
		namespaced, scope = true, apidiscoveryv2.ScopeNamespace
	}
	allowed := verbs
	if apihelpers.IsCRDConditionTrue(crd, apiextensionsv1.Terminating) {
		allowed = terminatingVerbs
	}
	subresources := subresourcesOf(version.Subresources, &kind)

	v.Aggregated.Version = version.Name
	v.Aggregated.Freshness = apidiscoveryv2.DiscoveryFreshnessCurrent
	v.Aggregated.Resources = append(v.Aggregated.Resources, apidiscoveryv2.APIResourceDiscovery{
		Resource: names.Plural, SingularResource: names.Singular, ShortNames: names.ShortNames, Categories: names.Categories,
		ResponseKind: &kind, Scope: scope, Verbs: allowed, Subresources: subresources,
	})

	v.Resources = append(v.Resources, metav1.APIResource{
		Name: names.Plural, SingularName: names.Singular, ShortNames: names.ShortNames, Categories: names.Categories,
		Kind: names.Kind, Namespaced: namespaced, Verbs: allowed, StorageVersionHash: storageVersionHash(&crd.Spec),
	})
	for _, s := range subresources {
		resource := metav1.APIResource{Name: names.Plural + "/" + s.Subresource, Kind: s.ResponseKind.Kind, Namespaced: namespaced, Verbs: s.Verbs}
		// Without a group and version, the entry would have those of the list.
		if *s.ResponseKind != kind {
			resource.Group, resource.Version = s.ResponseKind.Group, s.ResponseKind.Version
		}
		v.Resources = append(v.Resources, resource)
	}
	return v
}

// subresourcesOf returns the enabled subresources, none if s is nil. kind is the kind of the custom
// resource.
func subresourcesOf(s *apiextensionsv1.CustomResourceSubresources, kind *metav1.GroupVersionKind) []apidiscoveryv2.APISubresourceDiscovery {
	if s == nil {
		return nil
	}
	var enabled []apidiscoveryv2.APISubresourceDiscovery
	if s.Status != nil {
		enabled = append(enabled, apidiscoveryv2.APISubresourceDiscovery{Subresource: "status", ResponseKind: kind, Verbs: subresourceVerbs})
	}
	if s.Scale != nil {
		enabled = append(enabled, apidiscoveryv2.APISubresourceDiscovery{Subresource: "scale", ResponseKind: &scaleKind, Verbs: subresourceVerbs})
	}
	return enabled
}

// storageVersionHash returns the hash of the version in which the CRD's objects are stored. As in
// Kubernetes, it is made of the kind in spec.names, not of the accepted one. It is empty if that
// version is not served.
func storageVersionHash(spec *apiextensionsv1.CustomResourceDefinitionSpec) string {
	for _, v := range spec.Versions {
		if v.Storage && v.Served {
			return discovery.StorageVersionHash(spec.Group, v.Name, spec.Names.Kind)
		}
	}
	return ""
}
