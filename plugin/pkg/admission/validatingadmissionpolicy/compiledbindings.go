// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package validatingadmissionpolicy

import (
	"k8s.io/client-go/tools/cache"

	v1 "celador.io/api/admissionregistration/v1"
	"celador.io/client-go/informers"
	informersv1 "celador.io/client-go/informers/admissionregistration/v1"

	policyplugin "celador.io/celador/plugin/pkg/admission/policy"
)

// compiledBinding distinguishes the informer of CompiledBindings from the factory's own informer of bindings.
type compiledBinding struct {
	*v1.ValidatingAdmissionPolicyBinding
}

// CompiledBindings returns the informer of a factory from which the plugin takes bindings. It caches compiled bindings. Others use the factory's
// own informer of bindings.
func CompiledBindings(f informers.SharedInformerFactory) cache.SharedIndexInformer {
	return policyplugin.CompiledBindings(f, compiledBinding{}, informersv1.NewValidatingAdmissionPolicyBindingInformerWithOptions)
}
