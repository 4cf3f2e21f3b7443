// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"

	apiextensionsv1 "celador.io/api/apiextensions/v1"

	"celador.io/celador/pkg/apis/admissionregistration/install"
)

// newOpenAPIScheme returns a scheme of the external versions of Celador's kinds. The OpenAPI
// builder takes each model's group, version and kind from it, without which server-side apply does
// not find the types. Internal versions are left out, since they have no models. Kubernetes' kinds
// of the same names may be in other schemes of the builder.
func newOpenAPIScheme() *runtime.Scheme {
	scheme := runtime.NewScheme()
	install.InstallVersions(scheme)
	utilruntime.Must(apiextensionsv1.AddToScheme(scheme))
	return scheme
}
