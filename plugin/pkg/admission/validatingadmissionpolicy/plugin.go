// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package validatingadmissionpolicy is the admission plugin that enforces
// ValidatingAdmissionPolicy. It feeds the engine with what informers see and turns
// the engine's decisions into a denial, warnings, audit annotations and metrics.
package validatingadmissionpolicy

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/initializer"
	"k8s.io/apiserver/pkg/admission/plugin/policy/config"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/client-go/dynamic"
	kubeinformers "k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/component-base/featuregate"

	"celador.io/admission/expression"
	"celador.io/admission/validating"
	policyinformers "celador.io/client-go/informers"

	"celador.io/celador/pkg/apis/admissionregistration"
	"celador.io/celador/pkg/features"
	kubeadmission "celador.io/celador/pkg/kubeapiserver/admission"
	"celador.io/celador/plugin/pkg/admission/paramsource"
)

// PluginName is the name of the plugin in flags and admission configuration.
const PluginName = "ValidatingAdmissionPolicy"

// Register adds the plugin to a registry under PluginName.
func Register(plugins *admission.Plugins) {
	plugins.Register(PluginName, func(configFile io.Reader) (admission.Interface, error) {
		return New(configFile)
	})
}

// Policies and bindings are not subject to policies that clients write: one that
// denies everything can always be deleted. Those in files may protect them.
var configuration = sets.New(
	admissionregistration.Resource("validatingadmissionpolicies"),
	admissionregistration.Resource("validatingadmissionpolicybindings"),
	admissionregistration.Resource("mutatingadmissionpolicies"),
	admissionregistration.Resource("mutatingadmissionpolicybindings"),
)

// Plugin enforces ValidatingAdmissionPolicy. Its setters are called before the server
// starts; Validate is safe for concurrent use from then on.
type Plugin struct {
	*admission.Handler

	enabled    bool
	features   validating.Features
	excluded   sets.Set[schema.GroupResource]
	policies   policyinformers.SharedInformerFactory
	informers  kubeinformers.SharedInformerFactory
	client     kubernetes.Interface
	dynamic    dynamic.Interface
	authorizer authorizer.UnconditionalAuthorizer
	stop       <-chan struct{}

	synced atomic.Bool
	static staticPolicies
	store  *validating.Store
	engine *validating.Engine
}

var (
	_ admission.ValidationInterface                = &Plugin{}
	_ initializer.WantsFeatures                    = &Plugin{}
	_ initializer.WantsAPIServerID                 = &Plugin{}
	_ initializer.WantsDrainedNotification         = &Plugin{}
	_ initializer.WantsExcludedAdmissionResources  = &Plugin{}
	_ initializer.WantsExternalKubeInformerFactory = &Plugin{}
	_ initializer.WantsExternalKubeClientSet       = &Plugin{}
	_ initializer.WantsDynamicClient               = &Plugin{}
	_ initializer.WantsUnconditionalAuthorizer     = &Plugin{}
	_ kubeadmission.WantsPolicyInformers           = &Plugin{}
	_ kubeadmission.PolicyCheckListener            = &Plugin{}
)

// New returns a plugin that is inert until initialized. It fails when the admission
// configuration cannot be read.
func New(configFile io.Reader) (*Plugin, error) {
	settings, err := config.LoadValidatingConfig(configFile)
	if err != nil {
		return nil, err
	}
	return &Plugin{
		Handler:  admission.NewHandler(admission.Connect, admission.Create, admission.Delete, admission.Update),
		excluded: sets.New[schema.GroupResource](),
		static:   staticPolicies{dir: settings.StaticManifestsDir},
	}, nil
}

// InspectFeatureGates implements initializer.WantsFeatures.
func (p *Plugin) InspectFeatureGates(gates featuregate.FeatureGate) {
	p.enabled = gates.Enabled(features.ValidatingAdmissionPolicy)
	p.features = validating.Features{
		Singleton:               gates.Enabled(features.ValidatingAdmissionPolicySingleton),
		ValidationFailurePolicy: gates.Enabled(features.ValidatingAdmissionPolicyValidationFailurePolicy),
		FallbackBinding:         gates.Enabled(features.ValidatingAdmissionPolicyFallbackBinding),
		TypeEnforcement:         gates.Enabled(features.AdmissionPolicyTypeEnforcement),
	}
}

// SetAPIServerID implements initializer.WantsAPIServerID.
func (p *Plugin) SetAPIServerID(id string) { p.static.serverID = id }

// SetDrainedNotification implements initializer.WantsDrainedNotification.
func (p *Plugin) SetDrainedNotification(stop <-chan struct{}) { p.stop = stop }

// SetExcludedAdmissionResources implements initializer.WantsExcludedAdmissionResources.
func (p *Plugin) SetExcludedAdmissionResources(resources []schema.GroupResource) {
	p.excluded.Insert(resources...)
}

// SetExternalKubeInformerFactory implements initializer.WantsExternalKubeInformerFactory.
func (p *Plugin) SetExternalKubeInformerFactory(f kubeinformers.SharedInformerFactory) {
	p.informers = f
}

// SetExternalKubeClientSet implements initializer.WantsExternalKubeClientSet.
func (p *Plugin) SetExternalKubeClientSet(client kubernetes.Interface) { p.client = client }

// SetDynamicClient implements initializer.WantsDynamicClient.
func (p *Plugin) SetDynamicClient(client dynamic.Interface) { p.dynamic = client }

// SetUnconditionalAuthorizer implements initializer.WantsUnconditionalAuthorizer.
func (p *Plugin) SetUnconditionalAuthorizer(a authorizer.UnconditionalAuthorizer) { p.authorizer = a }

// SetPolicyInformers implements kubeadmission.WantsPolicyInformers.
func (p *Plugin) SetPolicyInformers(f policyinformers.SharedInformerFactory) { p.policies = f }

// PolicyChecked implements kubeadmission.PolicyCheckListener.
func (p *Plugin) PolicyChecked(name string, uid types.UID, generation int64, err error) {
	if p.enabled {
		p.store.SetVerdict(name, uid, generation, err)
	}
}

// PolicyGone implements kubeadmission.PolicyCheckListener.
func (p *Plugin) PolicyGone(name string) {
	if p.enabled {
		p.store.ForgetVerdict(name)
	}
}

// ValidateInitialization implements admission.InitializationValidator. It starts to
// follow policies as soon as the informers are started, or fails when something that
// the plugin needs was not set.
func (p *Plugin) ValidateInitialization() error {
	if !p.enabled {
		return nil
	}
	for missing, isSet := range map[string]bool{
		"policy informer factory": p.policies != nil,
		"informer factory":        p.informers != nil,
		"kubernetes client":       p.client != nil,
		"dynamic client":          p.dynamic != nil,
		"authorizer":              p.authorizer != nil,
		"stop channel":            p.stop != nil,
	} {
		if !isSet {
			return fmt.Errorf("missing %s", missing)
		}
	}
	namespaces := p.informers.Core().V1().Namespaces()
	p.store = validating.NewStore(expression.Default(), p.features, paramsource.New(p.client.Discovery(), p.dynamic, p.stop))
	ownMetrics.Count(p.store.Counts)
	p.engine = validating.NewEngine(&namespaceGetter{namespaces.Lister(), p.client}, p.authorizer)
	policiesSynced, err := follow(p.store, p.policies.Admissionregistration().V1())
	if err != nil {
		return err
	}
	namespacesSynced := namespaces.Informer().HasSynced
	p.SetReadyFunc(func() bool {
		// Informers take locks to answer, and never go back on it.
		if !p.synced.Load() {
			p.synced.Store(namespacesSynced() && policiesSynced())
		}
		return p.synced.Load()
	})
	return p.static.start(p.features, p.stop)
}

var errNotReady = errors.New("not yet ready to handle request")

// Validate implements admission.ValidationInterface. It denies a request when a
// policy does, and while policies are not known yet. Those in files come first.
func (p *Plugin) Validate(ctx context.Context, a admission.Attributes, objects admission.ObjectInterfaces) error {
	resource := a.GetResource().GroupResource()
	if !p.enabled || p.excluded.Has(resource) {
		return nil
	}
	static := p.static.snapshot()
	if configuration.Has(resource) {
		return p.evaluate(ctx, a, objects, static)
	}
	// Waiting starts timers even when there is nothing to wait for.
	if !p.synced.Load() && !p.WaitForReady() {
		return admission.NewForbidden(a, errNotReady)
	}
	return p.evaluate(ctx, a, objects, static, p.store.Snapshot())
}

func (p *Plugin) evaluate(ctx context.Context, a admission.Attributes, objects admission.ObjectInterfaces, snapshots ...*validating.Snapshot) error {
	result, err := p.engine.Evaluate(ctx, a, objects, snapshots...)
	if err != nil {
		return err
	}
	return enforce(ctx, a, result)
}
