// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"fmt"

	apiextensionsapiserver "k8s.io/apiextensions-apiserver/pkg/apiserver"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/util/webhook"
	aggregatorapiserver "k8s.io/kube-aggregator/pkg/apiserver"
	aggregatorscheme "k8s.io/kube-aggregator/pkg/apiserver/scheme"
	"k8s.io/kubernetes/cmd/kube-apiserver/app"
	"k8s.io/kubernetes/cmd/kube-apiserver/app/options"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	upstream "k8s.io/kubernetes/pkg/controlplane"
	controlplaneapiserver "k8s.io/kubernetes/pkg/controlplane/apiserver"

	"celador.io/celador/pkg/controller/admissionpolicystatus"
	"celador.io/celador/pkg/generated/openapi"
	kubeadmission "celador.io/celador/pkg/kubeapiserver/admission"
)

// Config is everything that the three servers of the chain are made from. It may
// be changed until Complete. Not safe for concurrent use.
type Config struct {
	// Options are those that the configuration was made from.
	Options options.CompletedOptions

	// Aggregator configures the server in front, which also proxies to extension API servers.
	Aggregator *aggregatorapiserver.Config
	// KubeAPIs configures the server of the built-in groups, Celador's among them.
	KubeAPIs *upstream.Config
	// ApiExtensions configures the server of custom resources.
	ApiExtensions *apiextensionsapiserver.Config

	ExtraConfig
}

// ExtraConfig is what upstream's server does not have.
type ExtraConfig struct {
	// PolicyListeners are told what checks of policies find. NewConfig has admission
	// plugins told, which need it for policies whose spec.typeChecking is Enforced.
	PolicyListeners []admissionpolicystatus.Listener
}

// completedConfig is behind CompletedConfig, so that only Complete makes one.
type completedConfig struct {
	Options options.CompletedOptions

	Aggregator    aggregatorapiserver.CompletedConfig
	KubeAPIs      upstream.CompletedConfig
	ApiExtensions apiextensionsapiserver.CompletedConfig

	ExtraConfig
}

// CompletedConfig is a Config whose missing values are filled in.
type CompletedConfig struct{ *completedConfig }

// Complete fills in missing values. The error is always nil; it is there because
// upstream's signature has it.
func (c *Config) Complete() (CompletedConfig, error) {
	completed := completedConfig{Options: c.Options, ExtraConfig: c.ExtraConfig}
	completed.Aggregator = c.Aggregator.Complete()
	completed.KubeAPIs = c.KubeAPIs.Complete()
	completed.ApiExtensions = c.ApiExtensions.Complete()
	return CompletedConfig{&completed}, nil
}

// NewConfig makes the configuration of a server with Celador's API group and
// admission plugins from anyone's options; the options need not come from
// NewOptions. It starts nothing. Errors are those of options that contradict one
// another or name files that cannot be used.
func NewConfig(opts options.CompletedOptions) (*Config, error) {
	generic, kubeInformers, storage, err := controlplaneapiserver.BuildGenericConfig(
		opts.CompletedOptions,
		[]*runtime.Scheme{legacyscheme.Scheme, apiextensionsapiserver.Scheme, aggregatorscheme.Scheme, newOpenAPIScheme()},
		upstream.DefaultAPIResourceConfigSource(), openapi.GetMergedOpenAPIDefinitions, opts.InformerName)
	if err != nil {
		return nil, err
	}

	policies, err := newPolicyInformers(generic.LoopbackClientConfig, opts.InformerName)
	if err != nil {
		return nil, err
	}
	plugins := kubeadmission.NewInitializer(policies)
	giveBack := lendOwnPlugins(opts, plugins)
	kube, services, initializers, err := app.CreateKubeAPIServerConfig(opts, generic, kubeInformers, storage)
	giveBack()
	if err != nil {
		return nil, err
	}

	base := &kube.ControlPlane
	auth := webhook.NewDefaultAuthenticationInfoResolverWrapper(base.ProxyTransport, generic.EgressSelector, generic.LoopbackClientConfig, generic.TracerProvider)
	extensions, err := controlplaneapiserver.CreateAPIExtensionsConfig(*generic, kubeInformers, initializers, opts.CompletedOptions, opts.MasterCount, services, auth)
	if err != nil {
		return nil, fmt.Errorf("custom resource server: %w", err)
	}
	aggregator, err := controlplaneapiserver.CreateAggregatorConfig(*generic, opts.CompletedOptions, kubeInformers, services, base.ProxyTransport, base.PeerProxy, initializers)
	if err != nil {
		return nil, fmt.Errorf("aggregator: %w", err)
	}

	if err := startInformers(generic, &aggregator.GenericConfig.Config, policies); err != nil {
		return nil, err
	}
	extra := ExtraConfig{PolicyListeners: []admissionpolicystatus.Listener{plugins}}
	return &Config{Options: opts, Aggregator: aggregator, KubeAPIs: kube, ApiExtensions: extensions, ExtraConfig: extra}, nil
}
