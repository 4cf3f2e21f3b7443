// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"maps"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/kube-openapi/pkg/common"
	upstream "k8s.io/kubernetes/pkg/generated/openapi"

	"celador.io/celador/pkg/apis/admissionregistration/install"
	"celador.io/celador/pkg/generated/openapi"
)

// openAPIDefinitions returns every model of upstream's, with Celador's in place of
// those of the same name.
func openAPIDefinitions(ref common.ReferenceCallback) map[string]common.OpenAPIDefinition {
	models := upstream.GetOpenAPIDefinitions(ref)
	maps.Copy(models, openapi.GetOpenAPIDefinitions(ref))
	return models
}

// newOpenAPIScheme returns the served versions of Celador's kinds. From them the
// models learn which kind they describe, without which server-side apply knows
// no types. The internal version must not be in it, since it has no models.
func newOpenAPIScheme() *runtime.Scheme {
	scheme := runtime.NewScheme()
	install.InstallVersions(scheme)
	return scheme
}
