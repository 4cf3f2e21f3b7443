// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"context"

	"k8s.io/apiserver/pkg/admission"
	upstreammutating "k8s.io/apiserver/pkg/admission/plugin/webhook/mutating"
	upstreamvalidating "k8s.io/apiserver/pkg/admission/plugin/webhook/validating"

	"celador.io/celador/plugin/pkg/admission/webhook/mutating"
	"celador.io/celador/plugin/pkg/admission/webhook/validating"
	"celador.io/celador/test/benchmark/api"
)

// CeladorValidating returns Celador's plugin for validating webhooks with the webhooks of a server.
func CeladorValidating(server *api.Server) (*Engine, error) {
	plugin, err := validating.New(nil)
	if err != nil {
		return nil, err
	}
	return start(plugin, plugin.Handler, server)
}

// UpstreamValidating returns Kubernetes' plugin for validating webhooks with the webhooks of a
// server.
func UpstreamValidating(server *api.Server) (*Engine, error) {
	plugin, err := upstreamvalidating.NewValidatingAdmissionWebhook(nil)
	if err != nil {
		return nil, err
	}
	return start(plugin, plugin.Handler, server)
}

// CeladorMutating returns Celador's plugin for mutating webhooks with the webhooks of a server.
func CeladorMutating(server *api.Server) (*Engine, error) {
	plugin, err := mutating.New(nil)
	if err != nil {
		return nil, err
	}
	return start(plugin, plugin.Handler, server)
}

// UpstreamMutating returns Kubernetes' plugin for mutating webhooks with the webhooks of a server.
func UpstreamMutating(server *api.Server) (*Engine, error) {
	plugin, err := upstreammutating.NewMutatingWebhook(nil)
	if err != nil {
		return nil, err
	}
	return start(plugin, plugin.Handler, server)
}

func validator(plugin admission.Interface) admission.ValidationInterface {
	if validating, ok := plugin.(admission.ValidationInterface); ok {
		return validating
	}
	return mutatingPlugin{plugin.(admission.MutationInterface)}
}

type mutatingPlugin struct{ admission.MutationInterface }

// Validate implements admission.ValidationInterface.
func (p mutatingPlugin) Validate(ctx context.Context, a admission.Attributes, o admission.ObjectInterfaces) error {
	return p.Admit(ctx, a, o)
}
