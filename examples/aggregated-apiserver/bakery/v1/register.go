// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupVersion is the API group and version of this package.
var GroupVersion = schema.GroupVersion{Group: "bakery.example.com", Version: "v1"}

// AddToScheme registers the types. The group has one version, whose types are the internal ones,
// too, so no types need to be converted.
func AddToScheme(scheme *runtime.Scheme) error {
	internal := schema.GroupVersion{Group: GroupVersion.Group, Version: runtime.APIVersionInternal}
	for _, version := range []schema.GroupVersion{GroupVersion, internal} {
		scheme.AddKnownTypes(version, &Order{}, &OrderList{})
	}
	metav1.AddToGroupVersion(scheme, GroupVersion)
	return scheme.SetVersionPriority(GroupVersion)
}
