// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package options registers the admission plugins of kube-apiserver.
package options

import (
	"io"

	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/plugin/namespace/lifecycle"
	upstream "k8s.io/kubernetes/pkg/kubeapiserver/options"

	"celador.io/apiserver/pkg/admission/plugin/mutatingadmissionpolicy"
	"celador.io/apiserver/pkg/admission/plugin/validatingadmissionpolicy"
	mutatingwebhook "celador.io/apiserver/pkg/admission/plugin/webhook/mutating"
	validatingwebhook "celador.io/apiserver/pkg/admission/plugin/webhook/validating"
	serveroptions "celador.io/apiserver/pkg/server/options"
)

// NewPlugins returns a registry of kube-apiserver's plugins with upstream's names, so that flags,
// plugin order and admission configuration files stay valid. initialize initializes each of
// Celador's policy plugins when it is created, before the server's own initializers. host is the
// registry of a program that embeds the server; NewPlugins adds the plugins that only host has.
func NewPlugins(host *admission.Plugins, initialize admission.PluginInitializer) *admission.Plugins {
	plugins := admission.NewPlugins()
	upstream.RegisterAllAdmissionPlugins(plugins)
	lifecycle.Register(plugins)
	mutatingwebhook.Register(plugins)
	validatingwebhook.Register(plugins)

	register(plugins, mutatingadmissionpolicy.PluginName, mutatingadmissionpolicy.New, initialize)
	register(plugins, validatingadmissionpolicy.PluginName, validatingadmissionpolicy.New, initialize)

	serveroptions.AddPlugins(plugins, host)
	return plugins
}

// register registers a plugin that initialize initializes when it is created.
func register[P admission.Interface](plugins *admission.Plugins, name string, make func(io.Reader) (P, error), initialize admission.PluginInitializer) {
	plugins.Register(name, func(file io.Reader) (admission.Interface, error) {
		plugin, err := make(file)
		if err != nil {
			return nil, err
		}
		initialize.Initialize(plugin)
		return plugin, nil
	})
}
