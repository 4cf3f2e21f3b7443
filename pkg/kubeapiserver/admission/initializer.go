// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package admission connects admission plugins to Celador's clients and controllers.
package admission

import (
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apiserver/pkg/admission"

	"celador.io/client-go/informers"
)

// WantsPolicyInformers is an admission plugin that watches policies.
type WantsPolicyInformers interface {
	// SetPolicyInformers is called once, before the server starts. The plugin asks
	// the factory for the informers it needs; the server starts them later.
	SetPolicyInformers(informers.SharedInformerFactory)
}

// PolicyCheckListener is an admission plugin that goes by what this server's checks of
// policies find. Calls about one policy are in order and do not block.
type PolicyCheckListener interface {
	// PolicyChecked is called after each check of a generation of a policy. The error is
	// nil if the policy can decide as written. The kind is a name as in manifests.
	PolicyChecked(kind, name string, uid types.UID, generation int64, err error)
	// PolicyGone is called when there is no policy of that name any more to check.
	PolicyGone(kind, name string)
}

// Initializer gives plugins what they want of Celador, and tells them what checks of
// policies find: it is a PolicyCheckListener itself. Plugins are initialized before it is
// first told something; from then on it is safe for concurrent use.
type Initializer struct {
	informers informers.SharedInformerFactory
	listeners []PolicyCheckListener
}

var _ PolicyCheckListener = &Initializer{}

// NewInitializer returns an initializer that gives factory to every plugin that
// implements WantsPolicyInformers.
func NewInitializer(factory informers.SharedInformerFactory) *Initializer {
	return &Initializer{informers: factory}
}

// Initialize implements admission.PluginInitializer. It leaves plugins alone that want
// nothing of Celador.
func (i *Initializer) Initialize(plugin admission.Interface) {
	if wants, ok := plugin.(WantsPolicyInformers); ok {
		wants.SetPolicyInformers(i.informers)
	}
	if listener, ok := plugin.(PolicyCheckListener); ok {
		i.listeners = append(i.listeners, listener)
	}
}

// PolicyChecked tells all plugins that listen.
func (i *Initializer) PolicyChecked(kind, name string, uid types.UID, generation int64, err error) {
	for _, listener := range i.listeners {
		listener.PolicyChecked(kind, name, uid, generation, err)
	}
}

// PolicyGone tells all plugins that listen.
func (i *Initializer) PolicyGone(kind, name string) {
	for _, listener := range i.listeners {
		listener.PolicyGone(kind, name)
	}
}
