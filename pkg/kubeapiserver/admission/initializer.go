// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package admission connects admission plugins to the policy informers and to the status
// controller.
package admission

import (
	"context"
	"errors"
	"time"

	"k8s.io/apiserver/pkg/admission"

	"celador.io/admission/typecheck"
	"celador.io/client-go/clientset"
	"celador.io/client-go/informers"
)

// A PolicyPlugin is an admission plugin that keeps policies in effect. Its setters are called once,
// before the server starts.
type PolicyPlugin interface {
	// SetPolicyInformers sets the factory from which the plugin requests its informers, which the
	// server starts, and the client of the factory.
	SetPolicyInformers(clientset.Interface, informers.SharedInformerFactory)
	// SetInstalledPaths sets a channel that is closed when the server serves all of its paths, so
	// that the plugin can send requests to it. The channel is nil if the server serves them
	// already.
	SetInstalledPaths(<-chan struct{})
	// SetFreshness bounds the age of what the plugin knows.
	SetFreshness(Freshness)
	// PoliciesSynced returns nil if the plugin knows all policies and bindings that existed when
	// the server started. Safe for concurrent use once the server runs.
	PoliciesSynced() error
	// ParamsSynced returns nil if the plugin knows the params of all policies that were in effect
	// when the server started, apart from kinds that the server does not serve. Safe for concurrent
	// use once the server runs.
	ParamsSynced() error
	// VerdictStore returns the kind of the plugin's policies and the store in which its engine
	// receives verdicts. It is called after ValidateInitialization. The store is nil if the plugin
	// is inert.
	VerdictStore() (kind string, store typecheck.VerdictStore)
}

// Freshness bounds the age of what admission plugins know of policies, bindings and params. The
// zero value does not.
type Freshness struct {
	// Limit is the age beyond which requests fail that a policy could deny. 0 is no limit.
	Limit time.Duration
	// Check returns nil if an informer of a resource of the API group has seen everything that was
	// stored before the call. seen is the informer's LastSyncResourceVersion. It is safe for
	// concurrent use.
	Check func(ctx context.Context, resource, seen string) error
}

// An Initializer connects policy plugins to a server, and collects their verdict stores and what
// they wait for.
type Initializer struct {
	client    clientset.Interface
	informers informers.SharedInformerFactory
	installed <-chan struct{}
	freshness Freshness
	plugins   []PolicyPlugin
}

// NewInitializer returns an initializer that passes its arguments to every PolicyPlugin.
func NewInitializer(client clientset.Interface, factory informers.SharedInformerFactory, installed <-chan struct{}, freshness Freshness) *Initializer {
	return &Initializer{client: client, informers: factory, installed: installed, freshness: freshness}
}

// Initialize implements admission.PluginInitializer.
func (i *Initializer) Initialize(plugin admission.Interface) {
	if policies, ok := plugin.(PolicyPlugin); ok {
		policies.SetPolicyInformers(i.client, i.informers)
		policies.SetInstalledPaths(i.installed)
		policies.SetFreshness(i.freshness)
		i.plugins = append(i.plugins, policies)
	}
}

// PoliciesSynced returns the errors of all plugins. Call it once the server runs.
func (i *Initializer) PoliciesSynced() error { return i.join(PolicyPlugin.PoliciesSynced) }

// ParamsSynced is PoliciesSynced for the params of policies.
func (i *Initializer) ParamsSynced() error { return i.join(PolicyPlugin.ParamsSynced) }

func (i *Initializer) join(synced func(PolicyPlugin) error) error {
	var errs []error
	for _, plugin := range i.plugins {
		errs = append(errs, synced(plugin))
	}
	return errors.Join(errs...)
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
