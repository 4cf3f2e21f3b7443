// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"

	apiextensionsv1 "celador.io/api/apiextensions/v1"

	"celador.io/celador/pkg/apis/admissionregistration/install"
)

// newOpenAPIScheme returns a scheme of the served versions of Celador's kinds. The OpenAPI builder
// takes the group, version and kind of each model from it; without them, server-side apply would
// not find the types. Internal versions are left out, because they have no models. The builder's
// other schemes may have Kubernetes' kinds of the same names, because the builder tells the models
// apart by their Go types.
func newOpenAPIScheme() *runtime.Scheme {
	scheme := runtime.NewScheme()
	install.Versions(scheme)
	utilruntime.Must(apiextensionsv1.AddToScheme(scheme))
	return scheme
}
