// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package options_test

import (
	"fmt"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	genericoptions "k8s.io/apiserver/pkg/server/options"

	"celador.io/apiserver/pkg/server/options"
)

var codecs = serializer.NewCodecFactory(runtime.NewScheme())

// An aggregated API server enforces the policies of the server that it registers with.
func Example() {
	o := genericoptions.NewRecommendedOptions("/registry/example.com", codecs.LegacyCodec(schema.GroupVersion{Group: "example.com", Version: "v1"}))
	o.Admission.Plugins = options.NewPlugins(o.Admission.Plugins)
	o.ExtraAdmissionInitializers = options.NewInitializers

	for _, name := range o.Admission.Plugins.Registered() {
		fmt.Println(name)
	}
	// Output:
	// MutatingAdmissionPolicy
	// MutatingAdmissionWebhook
	// NamespaceLifecycle
	// ValidatingAdmissionPolicy
	// ValidatingAdmissionWebhook
}
