// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package openapi

import (
	"maps"

	"k8s.io/kube-openapi/pkg/common"
	upstream "k8s.io/kubernetes/pkg/generated/openapi"
)

// GetMergedOpenAPIDefinitions returns every model of upstream's, with Celador's in
// place of those of the same name.
func GetMergedOpenAPIDefinitions(ref common.ReferenceCallback) map[string]common.OpenAPIDefinition {
	models := upstream.GetOpenAPIDefinitions(ref)
	maps.Copy(models, GetOpenAPIDefinitions(ref))
	return models
}
