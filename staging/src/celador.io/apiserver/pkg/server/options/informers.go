// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package options

import (
	"errors"
	"fmt"
	"net/http"
	"slices"

	"k8s.io/apiserver/pkg/admission"
	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/apiserver/pkg/server/healthz"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	"celador.io/admission/compact"
	"celador.io/client-go/clientset"
	"celador.io/client-go/informers"

	policyinit "celador.io/apiserver/pkg/admission/plugin/policy/initializer"
	"celador.io/apiserver/pkg/features"
)

// NewInitializers returns an initializer of the plugins for policies. It is for
// RecommendedOptions.ExtraAdmissionInitializers. It adds the post-start hook and the readiness
// check of StartPolicyInformers to the server, and a check that waits for the params of policies.
// While the user of the client lacks permissions to read policies, the server is not ready and
// refuses writes. If feature gate AdmissionPolicyTypeEnforcement is on, the server also checks the
// types of policies.
//
// NewInitializers returns an error if the configuration has no client of a server with policies,
// which CoreAPIOptions sets, or no client of the server itself, which SecureServingOptions sets.
func NewInitializers(config *genericapiserver.RecommendedConfig) ([]admission.PluginInitializer, error) {
	if config.ClientConfig == nil {
		return nil, errors.New("admission policies need a client of the server that stores them: set the CoreAPI options")
	}
	if config.LoopbackClientConfig == nil {
		return nil, errors.New("admission policies need a client of this server for its schemas: set the SecureServing options")
	}
	client, err := clientset.NewForConfig(config.ClientConfig)
	if err != nil {
		return nil, fmt.Errorf("creating the client for admission policies: %w", err)
	}
	core, err := kubernetes.NewForConfig(config.ClientConfig)
	if err != nil {
		return nil, fmt.Errorf("creating the client for permissions: %w", err)
	}
	own, err := discovery.NewDiscoveryClientForConfig(config.LoopbackClientConfig)
	if err != nil {
		return nil, fmt.Errorf("creating the client for schemas: %w", err)
	}
	policies := NewPolicyInformers(client, nil)
	plugins := policyinit.New(policyinit.Config{Client: client, Informers: policies, OpenAPI: own.OpenAPIV3()})
	resources := followed
	if utilfeature.DefaultFeatureGate.Enabled(features.AdmissionPolicyTypeEnforcement) {
		resources = slices.Concat(followed, followedForTypes)
		if err := checkTypes(config, client, policies, plugins); err != nil {
			return nil, err
		}
	}
	if err := checkPermissions(&config.Config, core, resources); err != nil {
		return nil, err
	}
	if err := StartPolicyInformers(&config.Config, &config.Config, policies, plugins.PoliciesSynced); err != nil {
		return nil, err
	}
	params := plugins.AwaitParams(plugins.PoliciesSynced)
	config.AddReadyzChecks(healthz.NamedCheck("policy-param-sync", func(*http.Request) error { return params() }))
	return []admission.PluginInitializer{plugins}, nil
}

// NewPolicyInformers returns a factory of informers of policies and bindings. With a nil name they
// have no metrics. They cache objects that package compact has made smaller.
func NewPolicyInformers(client clientset.Interface, name *cache.InformerName) informers.SharedInformerFactory {
	return informers.NewSharedInformerFactoryWithOptions(client, 0, informers.WithInformerName(name), informers.WithTransform(compact.New().Transform))
}

// StartPolicyInformers adds a post-start hook to server that starts the informers, and a readiness
// check to front, the server that answers /readyz. The check fails until the informers have synced
// and the function synced, which asks the admission plugins, returns nil. server and front may be
// the same.
func StartPolicyInformers(server, front *genericapiserver.Config, policies informers.SharedInformerFactory, synced func() error) error {
	front.ReadyzChecks = slices.Clip(front.ReadyzChecks) // the servers of a chain share its array
	informersSynced := healthz.NewInformerSyncHealthz(policies).Check
	front.AddReadyzChecks(healthz.NamedCheck("policy-informer-sync", func(request *http.Request) error {
		if err := informersSynced(request); err != nil {
			return err
		}
		return synced()
	}))
	return server.AddPostStartHook("start-policy-informers", func(hook genericapiserver.PostStartHookContext) error {
		policies.StartWithContext(hook)
		return nil
	})
}
