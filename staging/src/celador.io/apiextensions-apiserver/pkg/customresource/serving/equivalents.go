// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package serving

import (
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/scale/scheme/autoscalingv1"
)

// equivalents returns a mapper that knows the resource in each of its versions. Admission webhooks
// and policies with matchPolicy Equivalent use it to match requests for versions that their rules
// do not name.
func equivalents(crd *apiextensionsv1.CustomResourceDefinition) runtime.EquivalentResourceMapper {
	registry := runtime.NewEquivalentResourceRegistry()
	for _, v := range crd.Spec.Versions {
		gv := schema.GroupVersion{Group: crd.Spec.Group, Version: v.Name}
		resource, kind := gv.WithResource(crd.Status.AcceptedNames.Plural), gv.WithKind(crd.Status.AcceptedNames.Kind)
		registry.RegisterKindFor(resource, "", kind)
		if v.Subresources == nil {
			continue
		}
		if v.Subresources.Status != nil {
			registry.RegisterKindFor(resource, "status", kind)
		}
		if v.Subresources.Scale != nil {
			registry.RegisterKindFor(resource, "scale", autoscalingv1.SchemeGroupVersion.WithKind("Scale"))
		}
	}
	return registry
}
