// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package v1

import (
	upstreamv1beta1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1beta1"
	"k8s.io/apimachinery/pkg/conversion"

	"celador.io/apiextensions-apiserver/pkg/apis/apiextensions"
)

// v1beta1ToInternal converts a CustomResourceDefinition from Kubernetes' v1beta1, which has no
// expressions.
func v1beta1ToInternal(in *upstreamv1beta1.CustomResourceDefinition, out *apiextensions.CustomResourceDefinition, scope conversion.Scope) error {
	out.Expressions = nil
	return upstreamv1beta1.Convert_v1beta1_CustomResourceDefinition_To_apiextensions_CustomResourceDefinition(in, &out.CustomResourceDefinition, scope)
}

// v1beta1FromInternal converts a CustomResourceDefinition to Kubernetes' v1beta1, without the
// expressions. The version is neither served nor written to storage with expressions: only the
// tracking of managed fields converts to it, for entries of clients from before Kubernetes 1.22.
func v1beta1FromInternal(in *apiextensions.CustomResourceDefinition, out *upstreamv1beta1.CustomResourceDefinition, scope conversion.Scope) error {
	return upstreamv1beta1.Convert_apiextensions_CustomResourceDefinition_To_v1beta1_CustomResourceDefinition(&in.CustomResourceDefinition, out, scope)
}
