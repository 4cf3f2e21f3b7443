// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package admission hands Celador's clients to admission plugins.
package admission

import (
	"k8s.io/apiserver/pkg/admission"

	"celador.io/client-go/informers"
)

// WantsPolicyInformers is an admission plugin that watches policies.
type WantsPolicyInformers interface {
	// SetPolicyInformers is called once, before the server starts. The plugin asks
	// the factory for the informers it needs; the server starts them later.
	SetPolicyInformers(informers.SharedInformerFactory)
}

// NewInitializer returns an initializer that gives factory to every plugin that
// implements WantsPolicyInformers and leaves all others alone.
func NewInitializer(factory informers.SharedInformerFactory) admission.PluginInitializer {
	return initializer{factory}
}

type initializer struct {
	informers informers.SharedInformerFactory
}

// Initialize implements admission.PluginInitializer.
func (i initializer) Initialize(plugin admission.Interface) {
	if wants, ok := plugin.(WantsPolicyInformers); ok {
		wants.SetPolicyInformers(i.informers)
	}
}
