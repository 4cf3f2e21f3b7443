// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"context"
	"io"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/initializer"
	"k8s.io/apiserver/pkg/admission/plugin/webhook/generic"
	webhookinit "k8s.io/apiserver/pkg/admission/plugin/webhook/initializer"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	webhookutil "k8s.io/apiserver/pkg/util/webhook"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/component-base/featuregate"

	"celador.io/admission/matching"

	"celador.io/celador/pkg/features"
	"celador.io/celador/plugin/pkg/admission/policy"
)

// Plugin is what the plugins of both steps are made of. Its setters are called before the
// server starts; Dispatch is safe for concurrent use from then on.
type Plugin struct {
	*generic.Webhook
	step *Step
	// conditions says whether match conditions count.
	conditions bool
	authorizer authorizer.UnconditionalAuthorizer
	namespaces policy.NamespaceGetter
}

var (
	_ initializer.WantsFeatures                          = &Plugin{}
	_ initializer.WantsUnconditionalAuthorizer           = &Plugin{}
	_ webhookinit.WantsServiceResolver                   = &Plugin{}
	_ webhookinit.WantsAuthenticationInfoResolverWrapper = &Plugin{}
)

// ListWebhooks returns the source of the webhooks that informers see, without those of
// excluded resources.
type ListWebhooks func(f informers.SharedInformerFactory, excluded sets.Set[schema.GroupResource]) generic.Source

// NewPlugin returns a plugin that is inert until initialized. It fails when the admission
// configuration cannot be read.
func (s *Step) NewPlugin(configFile io.Reader, list ListWebhooks, dispatcher func(*Plugin, *webhookutil.ClientManager) generic.Dispatcher) (*Plugin, error) {
	p := &Plugin{step: s, conditions: true}
	handler := admission.NewHandler(admission.Connect, admission.Create, admission.Delete, admission.Update)
	var err error
	p.Webhook, err = generic.NewWebhook(handler, configFile,
		func(f informers.SharedInformerFactory, excluded sets.Set[schema.GroupResource]) generic.Source {
			return s.NewSource(list(f, excluded), p.conditionsCount)
		},
		func(clients *webhookutil.ClientManager) generic.Dispatcher { return dispatcher(p, clients) })
	if err != nil {
		return nil, err
	}
	return p, nil
}

// SetUnconditionalAuthorizer implements initializer.WantsUnconditionalAuthorizer.
func (p *Plugin) SetUnconditionalAuthorizer(a authorizer.UnconditionalAuthorizer) {
	p.Webhook.SetUnconditionalAuthorizer(a)
	p.authorizer = a
}

// SetExternalKubeInformerFactory implements initializer.WantsExternalKubeInformerFactory.
func (p *Plugin) SetExternalKubeInformerFactory(f informers.SharedInformerFactory) {
	p.Webhook.SetExternalKubeInformerFactory(f)
	p.namespaces.Lister = f.Core().V1().Namespaces().Lister()
}

// SetExternalKubeClientSet implements initializer.WantsExternalKubeClientSet.
func (p *Plugin) SetExternalKubeClientSet(client kubernetes.Interface) {
	p.Webhook.SetExternalKubeClientSet(client)
	p.namespaces.Client = client
}

// NewRequest returns a request for Choose.
func (p *Plugin) NewRequest(ctx context.Context, a admission.Attributes, o admission.ObjectInterfaces) *matching.Request {
	return matching.NewRequest(ctx, a, o, &p.namespaces)
}

func (p *Plugin) conditionsCount() bool { return p.conditions }

// InspectFeatureGates implements initializer.WantsFeatures.
func (p *Plugin) InspectFeatureGates(gates featuregate.FeatureGate) {
	p.Webhook.InspectFeatureGates(gates)
	p.conditions = gates.Enabled(features.AdmissionWebhookMatchConditions)
}

// LoadStatic has webhooks read from manifests, if the configuration file names any.
func (p *Plugin) LoadStatic(source func(dir string) StaticSource) {
	p.SetStaticSourceFactory(func(dir string) (generic.ReloadableSource, error) {
		static := source(dir)
		if err := static.LoadInitial(); err != nil {
			return nil, err
		}
		return &staticSource{p.step.NewSource(static, p.conditionsCount), static}, nil
	})
}

// StaticSource lists webhooks that are read from manifests.
type StaticSource interface {
	generic.ReloadableSource
	// LoadInitial fails when the manifests cannot be used.
	LoadInitial() error
}

type staticSource struct {
	*Source
	static StaticSource
}

// RunReloadLoop implements generic.ReloadableSource.
func (s *staticSource) RunReloadLoop(ctx context.Context) { s.static.RunReloadLoop(ctx) }
