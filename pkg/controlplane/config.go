// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"context"
	"fmt"

	apiextensionsapiserver "k8s.io/apiextensions-apiserver/pkg/apiserver"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/apiserver/pkg/util/webhook"
	aggregatorapiserver "k8s.io/kube-aggregator/pkg/apiserver"
	aggregatorscheme "k8s.io/kube-aggregator/pkg/apiserver/scheme"
	"k8s.io/kubernetes/cmd/kube-apiserver/app"
	"k8s.io/kubernetes/cmd/kube-apiserver/app/options"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	upstream "k8s.io/kubernetes/pkg/controlplane"
	controlplaneapiserver "k8s.io/kubernetes/pkg/controlplane/apiserver"

	"celador.io/admission/typecheck"
	"celador.io/apiserver/pkg/admission/plugin/lookupsource"
	"celador.io/apiserver/pkg/admission/plugin/paramsource"
	policyinit "celador.io/apiserver/pkg/admission/plugin/policy/initializer"
	"celador.io/apiserver/pkg/admission/typechecks"
	"celador.io/apiserver/pkg/features"
	serveroptions "celador.io/apiserver/pkg/server/options"
	"celador.io/client-go/informers"

	"celador.io/celador/pkg/generated/openapi"
	"celador.io/celador/pkg/kubeapiserver/builtintypes"
	"celador.io/celador/pkg/registry/admissionregistration/localclient"
	"celador.io/celador/pkg/registry/storedobjects"
)

// Config is the configuration of the three servers of the chain. Callers may change it until
// Complete. It is not safe for concurrent use.
type Config struct {
	// Options are the options from which NewConfig made the configuration.
	Options options.CompletedOptions

	// Aggregator configures the first server, which proxies to extension API servers.
	Aggregator *aggregatorapiserver.Config
	// KubeAPIs configures the server of the built-in groups, Celador's group included.
	KubeAPIs *upstream.Config
	// ApiExtensions configures the server of custom resources.
	ApiExtensions *apiextensionsapiserver.Config

	ExtraConfig
}

// ExtraConfig is configuration that upstream's server does not have.
type ExtraConfig struct {
	// VerdictStores receive the status controller's verdicts on policies, by the policies' kind.
	// NewConfig sets it to the stores of the admission plugins. A policy whose spec.typeChecking
	// is Enforced decides only after its verdict.
	VerdictStores map[string][]typecheck.VerdictStore
	// PolicyInformers are the informers of policies and bindings. NewConfig sets it. The admission
	// plugins and the status controller share the informers of policies; the plugins read bindings
	// without one. The server starts the informers. Embedders may use the informers and listers of
	// all kinds if they ask for them before the server starts. Of managed fields, the objects have
	// only those of the status.
	PolicyInformers informers.SharedInformerFactory
	// PolicyStores are the stores from which PolicyInformers read. NewConfig sets it, and
	// CreateServerChain opens the stores.
	PolicyStores *localclient.RegistryStores

	// latest tells which lookups can have consistency Latest. It is nil if policies have no lookups.
	latest typechecks.HasLatest
	// paths tells the admission plugins that the server serves all of its paths.
	paths *installedPaths
	// storedObjects finds the objects that policies look up.
	storedObjects *storedobjects.Storages
}

// completedConfig is unexported so that only Complete returns a CompletedConfig.
type completedConfig struct {
	Options options.CompletedOptions

	Aggregator    aggregatorapiserver.CompletedConfig
	KubeAPIs      upstream.CompletedConfig
	ApiExtensions apiextensionsapiserver.CompletedConfig

	ExtraConfig
}

// CompletedConfig is a Config with defaults applied.
type CompletedConfig struct{ *completedConfig }

// Complete applies defaults. The error is always nil; Complete has upstream's signature.
func (c *Config) Complete() (CompletedConfig, error) {
	completed := completedConfig{Options: c.Options, ExtraConfig: c.ExtraConfig}
	completed.Aggregator = c.Aggregator.Complete()
	completed.KubeAPIs = c.KubeAPIs.Complete()
	completed.ApiExtensions = c.ApiExtensions.Complete()
	return CompletedConfig{&completed}, nil
}

// NewConfig returns the configuration of a server with Celador's API group and admission plugins.
// The options may come from NewOptions or from upstream. NewConfig starts nothing. It fails if
// options contradict one another or name files that cannot be read.
func NewConfig(opts CompletedOptions) (*Config, error) {
	generic, kubeInformers, storage, err := controlplaneapiserver.BuildGenericConfig(
		opts.CompletedOptions.CompletedOptions,
		[]*runtime.Scheme{legacyscheme.Scheme, apiextensionsapiserver.Scheme, aggregatorscheme.Scheme, newOpenAPIScheme()},
		upstream.DefaultAPIResourceConfigSource(), openapi.GetMergedOpenAPIDefinitions, opts.InformerName)
	if err != nil {
		return nil, err
	}

	stored, lookups := storedobjects.New(legacyscheme.Scheme), utilfeature.DefaultFeatureGate.Enabled(features.AdmissionPolicyLookups)
	if lookups {
		generic.RESTOptionsGetter = stored.Collect(generic.RESTOptionsGetter)
	}
	stores := &localclient.RegistryStores{}
	client, err := newPolicyClient(generic.LoopbackClientConfig, stores)
	if err != nil {
		return nil, err
	}
	policies := serveroptions.NewPolicyInformers(client, opts.InformerName)
	paths := &installedPaths{done: make(chan struct{})}
	plugins := policyinit.New(policyinit.Config{
		Client: client, Informers: policies, Installed: paths.done,
		Freshness: policyinit.FreshnessBound{Limit: opts.MaxPolicyStaleness, Check: stores.Fresh},
		BuiltIn:   builtintypes.Scheme().IsVersionRegistered, TypeChecks: builtintypes.TypeChecks,
		StoredObjects: stored.Find, Schemas: builtintypes.Schemas,
	})
	restorePlugins := useOwnPlugins(opts.CompletedOptions, plugins)
	kube, services, initializers, err := app.CreateKubeAPIServerConfig(opts.CompletedOptions, generic, kubeInformers, storage)
	restorePlugins()
	if err != nil {
		return nil, err
	}

	base := &kube.ControlPlane
	auth := webhook.NewDefaultAuthenticationInfoResolverWrapper(base.ProxyTransport, generic.EgressSelector, generic.LoopbackClientConfig, generic.TracerProvider)
	extensions, err := controlplaneapiserver.CreateAPIExtensionsConfig(*generic, kubeInformers, initializers, opts.CompletedOptions.CompletedOptions, opts.MasterCount, services, auth)
	if err != nil {
		return nil, fmt.Errorf("custom resource server: %w", err)
	}
	if lookups {
		extensions.ExtraConfig.CRDRESTOptionsGetter = stored.Collect(extensions.ExtraConfig.CRDRESTOptionsGetter)
	}
	aggregator, err := controlplaneapiserver.CreateAggregatorConfig(*generic, opts.CompletedOptions.CompletedOptions, kubeInformers, services, base.ProxyTransport, base.PeerProxy, initializers)
	if err != nil {
		return nil, fmt.Errorf("aggregator: %w", err)
	}

	if err := serveroptions.StartPolicyInformers(generic, &aggregator.GenericConfig.Config, policies, plugins.PoliciesSynced); err != nil {
		return nil, err
	}
	checkParams(&aggregator.GenericConfig.Config, paths, plugins.ParamsSynced)
	extra := ExtraConfig{VerdictStores: plugins.VerdictStores(), PolicyInformers: policies, PolicyStores: stores, paths: paths, storedObjects: stored}
	if lookups {
		extra.latest = func(ctx context.Context, kind schema.GroupVersionKind, resource schema.GroupVersionResource) bool {
			found, err := stored.Find(ctx, kind, paramsource.Resource{GroupVersionResource: resource})
			_, ok := found.ListerWatcher.(lookupsource.RevisionedStorage)
			return ok || err != nil
		}
	}
	return &Config{Options: opts.CompletedOptions, Aggregator: aggregator, KubeAPIs: kube, ApiExtensions: extensions, ExtraConfig: extra}, nil
}
