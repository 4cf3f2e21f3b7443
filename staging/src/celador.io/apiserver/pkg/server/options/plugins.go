// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package options puts Celador's admission plugins in the place of Kubernetes' in the options of an
// API server that is built on k8s.io/apiserver:
//
//	o := genericoptions.NewRecommendedOptions(prefix, codec)
//	o.Admission.Plugins = options.NewPlugins(o.Admission.Plugins)
//	o.ExtraAdmissionInitializers = options.NewInitializers
//
// The plugins have Kubernetes' names, so flags, the order of plugins and admission configuration
// files stay valid. They read policies, bindings, params, webhook configurations and namespaces
// from the server of o.CoreAPI, which must allow the user of o.CoreAPI to list and watch them. They
// use the feature gate of o, which must have the gates of celador.io/apiserver/pkg/features; the
// process-wide one has them.
package options

import (
	"slices"

	"k8s.io/apiserver/pkg/admission"

	"celador.io/apiserver/pkg/admission/plugin/mutatingadmissionpolicy"
	"celador.io/apiserver/pkg/admission/plugin/validatingadmissionpolicy"
	mutatingwebhook "celador.io/apiserver/pkg/admission/plugin/webhook/mutating"
	validatingwebhook "celador.io/apiserver/pkg/admission/plugin/webhook/validating"
)

// NewPlugins returns a registry of Celador's plugins, and of the plugins in host that have other
// names. host is not changed.
func NewPlugins(host *admission.Plugins) *admission.Plugins {
	plugins := admission.NewPlugins()
	for _, register := range []func(*admission.Plugins){
		mutatingadmissionpolicy.Register, validatingadmissionpolicy.Register, mutatingwebhook.Register, validatingwebhook.Register,
	} {
		register(plugins)
	}
	AddPlugins(plugins, host)
	return plugins
}

// AddPlugins adds the plugins of another registry whose names are not registered yet.
func AddPlugins(plugins, from *admission.Plugins) {
	known := plugins.Registered()
	for _, name := range from.Registered() {
		if !slices.Contains(known, name) {
			plugins.Register(name, factory(from, name))
		}
	}
}
