// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"context"
	"io"
	"slices"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/initializer"
	upstream "k8s.io/apiserver/pkg/admission/plugin/webhook"
	"k8s.io/apiserver/pkg/admission/plugin/webhook/generic"
	webhookinit "k8s.io/apiserver/pkg/admission/plugin/webhook/initializer"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	webhookutil "k8s.io/apiserver/pkg/util/webhook"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/component-base/featuregate"

	engine "celador.io/admission/webhook"

	"celador.io/apiserver/pkg/admission/plugin/caches"
	"celador.io/apiserver/pkg/features"
)

// Plugin is the common part of the plugins that call validating and mutating webhooks, which embed
// it. Its setters are called before the server starts. From then on, Dispatch is safe for
// concurrent use.
type Plugin struct {
	*generic.Webhook
	descriptor *Descriptor
	dispatch   Dispatch
	clients    *webhookutil.ClientManager
	namespaces caches.NamespaceGetter
	authorizer authorizer.UnconditionalAuthorizer
	// conditions is set if the feature gate of match conditions is on. Otherwise webhooks are
	// called as if they had none.
	conditions bool
	// namespacesSynced reports whether the informer of namespaces has synced.
	namespacesSynced cache.InformerSynced
	// api and static are the sources of webhooks. static is nil without a directory of manifests.
	api, static generic.Source
	// synced is set once the namespaces and both sources have synced.
	synced caches.Synced
	// latest and previous are the last two sets that Set made, or nil. With static manifests, two
	// lists are in use: all webhooks, and only those of manifests, for requests for admission
	// configurations.
	latest, previous atomic.Pointer[Set]
}

// A Set holds the compiled form of listed webhooks, in their order. It is immutable.
type Set struct {
	*engine.Set
	listed    []upstream.WebhookAccessor
	accessors []*Accessor
}

// At returns the accessor of a webhook by its position in the list.
func (s *Set) At(position int) *Accessor { return s.accessors[position] }

// of reports whether s is the set of the given webhooks. s may be nil.
func (s *Set) of(webhooks []upstream.WebhookAccessor) bool {
	return s != nil && slices.Equal(s.listed, webhooks)
}

var (
	_ initializer.WantsFeatures                          = &Plugin{}
	_ initializer.WantsManifestLoaders                   = &Plugin{}
	_ initializer.WantsUnconditionalAuthorizer           = &Plugin{}
	_ webhookinit.WantsServiceResolver                   = &Plugin{}
	_ webhookinit.WantsAuthenticationInfoResolverWrapper = &Plugin{}
)

// Dispatch calls those of the webhooks that match a request. There is at least one webhook. An
// error rejects the request.
type Dispatch func(_ context.Context, _ *Plugin, _ admission.Attributes, _ admission.ObjectInterfaces, webhooks []upstream.WebhookAccessor) error

// NewPlugin returns a plugin, which must be initialized before it handles requests. It returns an
// error if the admission configuration cannot be read.
func (k *Descriptor) NewPlugin(configFile io.Reader, dispatch Dispatch) (*Plugin, error) {
	p := &Plugin{descriptor: k, dispatch: dispatch, conditions: true}
	handler := admission.NewHandler(admission.Connect, admission.Create, admission.Delete, admission.Update)
	var err error
	p.Webhook, err = generic.NewWebhook(handler, configFile,
		func(f informers.SharedInformerFactory, excluded sets.Set[schema.GroupResource]) generic.Source {
			p.api = k.list(f, excluded)
			return p.api
		},
		func(clients *webhookutil.ClientManager) generic.Dispatcher {
			p.clients = clients
			return dispatcher{p}
		})
	if err != nil {
		return nil, err
	}
	return p, nil
}

// dispatcher has the method Dispatch, which Plugin cannot have because it embeds generic.Webhook.
type dispatcher struct{ *Plugin }

// Dispatch implements generic.Dispatcher.
func (d dispatcher) Dispatch(ctx context.Context, a admission.Attributes, o admission.ObjectInterfaces, webhooks []upstream.WebhookAccessor) error {
	if len(webhooks) == 0 {
		return nil
	}
	return d.dispatch(ctx, d.Plugin, a, o, webhooks)
}

// SetUnconditionalAuthorizer implements initializer.WantsUnconditionalAuthorizer.
func (p *Plugin) SetUnconditionalAuthorizer(a authorizer.UnconditionalAuthorizer) { p.authorizer = a }

// SetExternalKubeInformerFactory implements initializer.WantsExternalKubeInformerFactory.
func (p *Plugin) SetExternalKubeInformerFactory(f informers.SharedInformerFactory) {
	p.Webhook.SetExternalKubeInformerFactory(f)
	namespaces := f.Core().V1().Namespaces()
	p.namespaces.Lister = namespaces.Lister()
	p.namespacesSynced = namespaces.Informer().HasSynced
}

// SetExternalKubeClientSet implements initializer.WantsExternalKubeClientSet.
func (p *Plugin) SetExternalKubeClientSet(client kubernetes.Interface) {
	p.Webhook.SetExternalKubeClientSet(client)
	p.namespaces.Client = client
}

// InspectFeatureGates implements initializer.WantsFeatures.
func (p *Plugin) InspectFeatureGates(gates featuregate.FeatureGate) {
	p.Webhook.InspectFeatureGates(gates)
	p.conditions = gates.Enabled(features.AdmissionWebhookMatchConditions)
}

// ValidateInitialization implements admission.InitializationValidator. It returns an error if a
// setter was not called or a manifest file is invalid.
func (p *Plugin) ValidateInitialization() error {
	if err := p.Webhook.ValidateInitialization(); err != nil {
		return err
	}
	// Unlike Kubernetes' function, this takes no lock once all have synced.
	p.SetReadyFunc(func() bool { return p.synced.Check(p.hasSynced) })
	return nil
}

// hasSynced reports whether the namespaces and the webhooks have synced.
func (p *Plugin) hasSynced() bool {
	return p.namespacesSynced() && p.api.HasSynced() && (p.static == nil || p.static.HasSynced())
}

// SetManifestLoaders implements initializer.WantsManifestLoaders. The plugin loads manifests only
// if its configuration file names a directory.
func (p *Plugin) SetManifestLoaders(loaders *initializer.ManifestLoaders) {
	if loaders == nil || !p.descriptor.hasLoader(loaders) {
		return
	}
	p.SetStaticSourceFactory(func(dir string) (generic.ReloadableSource, error) {
		manifests, err := p.descriptor.static(loaders, dir, p.GetAPIServerID())
		if err != nil {
			return nil, err
		}
		p.static = manifests
		return manifests, nil
	})
}

// Set returns the compiled set of the listed webhooks. It returns the same set until the sources
// list others. A webhook that is in one of the last two sets is not compiled again.
func (p *Plugin) Set(webhooks []upstream.WebhookAccessor) *Set {
	latest, previous := p.latest.Load(), p.previous.Load()
	if latest.of(webhooks) {
		return latest
	}
	if previous.of(webhooks) {
		return previous
	}
	known := map[upstream.WebhookAccessor]*Accessor{}
	for _, last := range []*Set{latest, previous} {
		if last != nil {
			for i, w := range last.listed {
				known[w] = last.accessors[i]
			}
		}
	}
	next := &Set{listed: webhooks}
	compiled := make([]*engine.Webhook, len(webhooks))
	for i, w := range webhooks {
		accessor := known[w]
		if accessor == nil {
			accessor = newAccessor(w, p.conditions)
		}
		next.accessors, compiled[i] = append(next.accessors, accessor), accessor.Webhook
	}
	next.Set = engine.NewSet(compiled)
	// If concurrent requests each make a set, the last one remains.
	p.previous.Store(latest)
	p.latest.Store(next)
	return next
}

// Config returns the dependencies of the engine on the API server.
func (p *Plugin) Config() engine.Config {
	return engine.Config{Namespaces: &p.namespaces, Authorizer: p.authorizer}
}
