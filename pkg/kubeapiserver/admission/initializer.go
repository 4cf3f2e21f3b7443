// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package admission connects admission plugins to the policy informers and to the status
// controller.
package admission

import (
	"k8s.io/apiserver/pkg/admission"

	"celador.io/admission/typecheck"
	"celador.io/client-go/informers"
)

// WantsPolicyInformers is implemented by admission plugins that watch policies.
type WantsPolicyInformers interface {
	// SetPolicyInformers is called once, before the server starts. The plugin requests its
	// informers from the factory; the server starts them. The informers then belong to the plugin,
	// which changes what they cache.
	SetPolicyInformers(informers.SharedInformerFactory)
}

// HasVerdictStore is implemented by admission plugins whose engine receives verdicts.
type HasVerdictStore interface {
	// VerdictStore returns the kind of the plugin's policies and the engine's store. It is called
	// after ValidateInitialization. The store is nil if the plugin is inert.
	VerdictStore() (kind string, store typecheck.VerdictStore)
}

// An Initializer initializes plugins with policy informers, and collects their verdict stores.
type Initializer struct {
	informers informers.SharedInformerFactory
	plugins   []HasVerdictStore
}

// NewInitializer returns an initializer that passes factory to every plugin that implements
// WantsPolicyInformers.
func NewInitializer(factory informers.SharedInformerFactory) *Initializer {
	return &Initializer{informers: factory}
}

// Initialize implements admission.PluginInitializer.
func (i *Initializer) Initialize(plugin admission.Interface) {
	if wants, ok := plugin.(WantsPolicyInformers); ok {
		wants.SetPolicyInformers(i.informers)
	}
	if has, ok := plugin.(HasVerdictStore); ok {
		i.plugins = append(i.plugins, has)
	}
}

// VerdictStores returns the verdict stores of all initialized plugins, by the kind of their
// policies. Call it after the plugins' ValidateInitialization.
func (i *Initializer) VerdictStores() map[string][]typecheck.VerdictStore {
	stores := map[string][]typecheck.VerdictStore{}
	for _, plugin := range i.plugins {
		if kind, store := plugin.VerdictStore(); store != nil {
			stores[kind] = append(stores[kind], store)
		}
	}
	return stores
}
