// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"k8s.io/apimachinery/pkg/runtime"

	"celador.io/celador/pkg/apis/admissionregistration/install"
)

// newOpenAPIScheme returns the served versions of Celador's kinds. From them the
// models learn which kind they describe, without which server-side apply knows
// no types. The internal version must not be in it, since it has no models.
func newOpenAPIScheme() *runtime.Scheme {
	scheme := runtime.NewScheme()
	install.InstallVersions(scheme)
	return scheme
}
