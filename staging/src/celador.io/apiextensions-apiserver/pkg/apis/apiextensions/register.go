// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package apiextensions

import (
	upstream "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	"k8s.io/apimachinery/pkg/runtime"
)

// AddToScheme registers CustomResourceDefinition and its list as the internal version of the group
// apiextensions.k8s.io. The scheme must not have Kubernetes' internal version.
func AddToScheme(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(upstream.SchemeGroupVersion, &CustomResourceDefinition{}, &CustomResourceDefinitionList{})
	return nil
}
