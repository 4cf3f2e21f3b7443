// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package initializer connects the admission plugins for policies to a server: it hands them the
// client and the informers of policies, and collects what they wait for.
package initializer

import (
	"context"
	"errors"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/cel/openapi/resolver"
	"k8s.io/client-go/openapi"

	"celador.io/admission/policy"
	"celador.io/admission/typecheck"
	"celador.io/client-go/clientset"
	"celador.io/client-go/informers"

	"celador.io/apiserver/pkg/admission/plugin/lookupsource"
	"celador.io/apiserver/pkg/admission/typechecks"
)

// A PolicyPlugin is an admission plugin that keeps policies in effect.
type PolicyPlugin interface {
	// SetConfig sets what the plugin needs of the server. It is called once, before the server
	// starts.
	SetConfig(Config)
	// PoliciesSynced returns nil if the plugin knows all policies and bindings that existed when
	// the server started. Safe for concurrent use once the server runs.
	PoliciesSynced() error
	// ParamsSynced returns nil if the plugin knows the params and the looked up objects of all
	// policies that were in effect when the server started, apart from kinds that the server does
	// not serve. Safe for concurrent use once the server runs.
	ParamsSynced() error
	// VerdictStore returns the kind of the plugin's policies and the store in which its engine
	// receives verdicts. It is called after ValidateInitialization. The store is nil if the feature
	// gate of the kind is off.
	VerdictStore() (kind string, store typecheck.VerdictStore)
}

// A FreshnessBound bounds how much older the policies, bindings and params of admission plugins may
// be than those that are stored. The zero value sets no bound.
type FreshnessBound struct {
	// Limit is the maximum age. Beyond it, requests fail that a policy could deny. 0 is no limit.
	Limit time.Duration
	// Check returns nil if an informer has seen everything that was stored before the call.
	// resource is the informer's resource in the API group, and seen its LastSyncResourceVersion.
	// It is safe for concurrent use.
	Check func(ctx context.Context, resource, seen string) error
}

// Config holds what policy plugins need of a server in addition to what the initializer of
// k8s.io/apiserver sets. Client and Informers are required.
type Config struct {
	// Client lists and watches bindings. It may read them from the server's own storage.
	Client clientset.Interface
	// Informers is the factory from which plugins request informers of policies. The server starts
	// them after the initialization of the plugins.
	Informers informers.SharedInformerFactory
	// Installed is closed when the server serves all of its paths, so that plugins can read params
	// from it. It is nil if they are read from another server.
	Installed <-chan struct{}
	// Freshness bounds the age of the plugins' objects.
	Freshness FreshnessBound
	// OpenAPI reads the schemas of the objects that requests change. Nil means that the server of
	// the Kubernetes client publishes them.
	OpenAPI openapi.Client
	// BuiltIn reports whether the kinds of a group version are compiled into the server whose
	// schemas the plugins read. No kinds are added to such a group version while the server runs.
	// Nil means that there are none.
	BuiltIn func(schema.GroupVersion) bool
	// Schemas resolves the schemas of the kinds for which BuiltIn returns true, and keeps the names
	// of their models (package modelschema). Nil means that the schemas of OpenAPI are used for
	// them, too.
	Schemas resolver.SchemaResolver
	// StoredObjects finds, in the storage of the server itself, the objects that policies look up.
	// The plugins read objects that it does not find by requests. Nil finds none.
	StoredObjects lookupsource.Find
	// Lookups holds the source of looked up objects that all plugins of the server share, so that
	// each kind is watched once. New sets it. With nil, a plugin has a source of its own.
	Lookups *lookupsource.Shared
	// Select returns the stored policies that decide about a request, or nil if all do. A nil
	// function stands for all.
	Select func(context.Context) *policy.Selection
	// TypeChecks checks the types of policies in manifest files. Nil accepts all of them.
	TypeChecks *typechecks.Validator
}

// An Initializer connects policy plugins to a server, and collects their verdict stores and what
// they wait for.
type Initializer struct {
	config  Config
	plugins []PolicyPlugin
}

// New returns an initializer that passes the configuration to every PolicyPlugin. They share one
// source of looked up objects.
func New(config Config) *Initializer {
	config.Lookups = &lookupsource.Shared{}
	return &Initializer{config: config}
}

// Initialize implements admission.PluginInitializer.
func (i *Initializer) Initialize(plugin admission.Interface) {
	if policies, ok := plugin.(PolicyPlugin); ok {
		policies.SetConfig(i.config)
		i.plugins = append(i.plugins, policies)
	}
}

// PoliciesSynced returns the errors of all plugins. Call it once the server runs.
func (i *Initializer) PoliciesSynced() error { return i.join(PolicyPlugin.PoliciesSynced) }

// ParamsSynced returns the errors of all plugins about params. Call it once the server runs.
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
