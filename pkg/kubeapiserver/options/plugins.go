// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package options chooses kube-apiserver's admission plugins.
package options

import (
	"io"
	"slices"

	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/plugin/namespace/lifecycle"
	upstream "k8s.io/kubernetes/pkg/kubeapiserver/options"

	"celador.io/celador/plugin/pkg/admission/mutatingadmissionpolicy"
	"celador.io/celador/plugin/pkg/admission/validatingadmissionpolicy"
	mutatingwebhook "celador.io/celador/plugin/pkg/admission/webhook/mutating"
	validatingwebhook "celador.io/celador/plugin/pkg/admission/webhook/validating"
)

// NewPlugins returns a registry of kube-apiserver's plugins under upstream's names,
// so that flags, plugin order and admission configuration files stay valid. Every
// plugin that Celador implements gets initialize as soon as it is made, before the
// server's own initializers. A plugin that only host has, which is the registry in
// the options of whoever embeds the server, is taken over from there.
func NewPlugins(host *admission.Plugins, initialize admission.PluginInitializer) *admission.Plugins {
	plugins := admission.NewPlugins()
	upstream.RegisterAllAdmissionPlugins(plugins)
	lifecycle.Register(plugins)
	mutatingwebhook.Register(plugins)
	validatingwebhook.Register(plugins)

	register(plugins, mutatingadmissionpolicy.PluginName, mutatingadmissionpolicy.New, initialize)
	register(plugins, validatingadmissionpolicy.PluginName, validatingadmissionpolicy.New, initialize)

	known := plugins.Registered()
	for _, name := range host.Registered() {
		if !slices.Contains(known, name) {
			plugins.Register(name, factory(host, name))
		}
	}
	return plugins
}

// register adds a plugin that is initialized as soon as it is made.
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
