// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"k8s.io/apimachinery/pkg/runtime"

	"celador.io/celador/pkg/apis/admissionregistration/install"
)

// newOpenAPIScheme returns a scheme of the external versions of Celador's kinds. The OpenAPI builder
// takes each model's group, version and kind from it, without which server-side apply does not find
// the types. The internal version is left out, since it has no models.
func newOpenAPIScheme() *runtime.Scheme {
	scheme := runtime.NewScheme()
	install.InstallVersions(scheme)
	return scheme
}
