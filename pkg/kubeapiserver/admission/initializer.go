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

// WantsPolicyInformers is implemented by admission plugins that watch policies.
type WantsPolicyInformers interface {
	// SetPolicyInformers is called once, before the server starts. The plugin requests its
	// informers from the factory; the server starts them. The client is the one of the factory.
	SetPolicyInformers(clientset.Interface, informers.SharedInformerFactory)
}

// HasVerdictStore is implemented by admission plugins whose engine receives verdicts.
type HasVerdictStore interface {
	// VerdictStore returns the kind of the plugin's policies and the engine's store. It is called
	// after ValidateInitialization. The store is nil if the plugin is inert.
	VerdictStore() (kind string, store typecheck.VerdictStore)
}

// WantsInstalledPaths is implemented by admission plugins that send requests to the server.
type WantsInstalledPaths interface {
	// SetInstalledPaths is called once, before the server starts. The channel is closed when the
	// server serves all of its paths. It is nil if the server serves them already.
	SetInstalledPaths(<-chan struct{})
}

// HasPolicies is implemented by admission plugins that keep policies in effect.
type HasPolicies interface {
	// PoliciesSynced returns nil if the plugin knows all policies and bindings that existed when
	// the server started. Safe for concurrent use once the server runs.
	PoliciesSynced() error
	// ParamsSynced returns nil if the plugin knows the params of all policies that were in effect
	// when the server started, apart from kinds that the server does not serve. Safe for concurrent
	// use once the server runs.
	ParamsSynced() error
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

// WantsFreshness is implemented by admission plugins that bound the age of what they know.
type WantsFreshness interface {
	// SetFreshness is called once, before the server starts.
	SetFreshness(Freshness)
}

// An Initializer initializes plugins with policy informers, and collects their verdict stores and
// what they wait for.
type Initializer struct {
	client    clientset.Interface
	informers informers.SharedInformerFactory
	installed <-chan struct{}
	freshness Freshness
	plugins   []HasVerdictStore
	policies  []HasPolicies
}

// NewInitializer returns an initializer that passes client and its factory to every plugin that
// implements WantsPolicyInformers, installed to every plugin that implements WantsInstalledPaths,
// and freshness to every plugin that implements WantsFreshness.
func NewInitializer(client clientset.Interface, factory informers.SharedInformerFactory, installed <-chan struct{}, freshness Freshness) *Initializer {
	return &Initializer{client: client, informers: factory, installed: installed, freshness: freshness}
}

// Initialize implements admission.PluginInitializer.
func (i *Initializer) Initialize(plugin admission.Interface) {
	if wants, ok := plugin.(WantsPolicyInformers); ok {
		wants.SetPolicyInformers(i.client, i.informers)
	}
	if wants, ok := plugin.(WantsInstalledPaths); ok {
		wants.SetInstalledPaths(i.installed)
	}
	if wants, ok := plugin.(WantsFreshness); ok {
		wants.SetFreshness(i.freshness)
	}
	if has, ok := plugin.(HasPolicies); ok {
		i.policies = append(i.policies, has)
	}
	if has, ok := plugin.(HasVerdictStore); ok {
		i.plugins = append(i.plugins, has)
	}
}

// PoliciesSynced returns the errors of all plugins that implement HasPolicies. Call it once the
// server runs.
func (i *Initializer) PoliciesSynced() error {
	var errs []error
	for _, plugin := range i.policies {
		errs = append(errs, plugin.PoliciesSynced())
	}
	return errors.Join(errs...)
}

// ParamsSynced is PoliciesSynced for the params of policies.
func (i *Initializer) ParamsSynced() error {
	var errs []error
	for _, plugin := range i.policies {
		errs = append(errs, plugin.ParamsSynced())
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
