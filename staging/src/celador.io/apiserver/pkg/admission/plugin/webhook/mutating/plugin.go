// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package mutating is the admission plugin that calls mutating webhooks.
package mutating

import (
	"context"
	"io"

	"k8s.io/apiserver/pkg/admission"

	"celador.io/apiserver/pkg/admission/plugin/webhook"
)

// PluginName is the name of the plugin in flags and admission configuration.
const PluginName = "MutatingAdmissionWebhook"

// Register adds the plugin to a registry under PluginName.
func Register(plugins *admission.Plugins) {
	plugins.Register(PluginName, func(configFile io.Reader) (admission.Interface, error) { return New(configFile) })
}

// Plugin calls mutating webhooks. Admit is safe for concurrent use once the server starts.
type Plugin struct{ *webhook.Plugin }

var _ admission.MutationInterface = &Plugin{}

// New returns a plugin, which must be initialized before it handles requests. It returns an error
// if the admission configuration cannot be read.
func New(configFile io.Reader) (*Plugin, error) {
	p, err := webhook.Mutating.NewPlugin(configFile, dispatch)
	if err != nil {
		return nil, err
	}
	return &Plugin{p}, nil
}

// Admit implements admission.MutationInterface.
func (p *Plugin) Admit(ctx context.Context, a admission.Attributes, o admission.ObjectInterfaces) error {
	return p.Dispatch(ctx, a, o)
}
