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

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/initializer"
	"k8s.io/apiserver/pkg/admission/plugin/policy/config"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	kubeinformers "k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/component-base/featuregate"

	"celador.io/admission/expression"
	"celador.io/admission/validating"
	policyinformers "celador.io/client-go/informers"

	"celador.io/celador/pkg/apis/admissionregistration"
	"celador.io/celador/pkg/features"
	kubeadmission "celador.io/celador/pkg/kubeapiserver/admission"
)

// PluginName is the name of the plugin in flags and admission configuration.
const PluginName = "ValidatingAdmissionPolicy"

// Register adds the plugin to a registry under PluginName.
func Register(plugins *admission.Plugins) {
	plugins.Register(PluginName, func(configFile io.Reader) (admission.Interface, error) {
		return New(configFile)
	})
}

// Policies and bindings are never subject to policies themselves: a policy that
// denies everything can always be deleted.
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
	excluded   sets.Set[schema.GroupResource]
	policies   policyinformers.SharedInformerFactory
	informers  kubeinformers.SharedInformerFactory
	client     kubernetes.Interface
	authorizer authorizer.UnconditionalAuthorizer

	store  *validating.Store
	engine *validating.Engine
}

var (
	_ admission.ValidationInterface                = &Plugin{}
	_ initializer.WantsFeatures                    = &Plugin{}
	_ initializer.WantsExcludedAdmissionResources  = &Plugin{}
	_ initializer.WantsExternalKubeInformerFactory = &Plugin{}
	_ initializer.WantsExternalKubeClientSet       = &Plugin{}
	_ initializer.WantsUnconditionalAuthorizer     = &Plugin{}
	_ kubeadmission.WantsPolicyInformers           = &Plugin{}
)

// New returns a plugin that is inert until initialized. It fails when the admission
// configuration cannot be read or asks for policies from files.
func New(configFile io.Reader) (*Plugin, error) {
	settings, err := config.LoadValidatingConfig(configFile)
	if err != nil {
		return nil, err
	}
	if settings.StaticManifestsDir != "" {
		return nil, fmt.Errorf("admission plugin %s: staticManifestsDir %q: policies from files are not supported yet; remove the field",
			PluginName, settings.StaticManifestsDir)
	}
	return &Plugin{
		Handler:  admission.NewHandler(admission.Connect, admission.Create, admission.Delete, admission.Update),
		excluded: sets.New[schema.GroupResource](),
	}, nil
}

// InspectFeatureGates implements initializer.WantsFeatures.
func (p *Plugin) InspectFeatureGates(gates featuregate.FeatureGate) {
	p.enabled = gates.Enabled(features.ValidatingAdmissionPolicy)
}

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

// SetUnconditionalAuthorizer implements initializer.WantsUnconditionalAuthorizer.
func (p *Plugin) SetUnconditionalAuthorizer(a authorizer.UnconditionalAuthorizer) { p.authorizer = a }

// SetPolicyInformers implements kubeadmission.WantsPolicyInformers.
func (p *Plugin) SetPolicyInformers(f policyinformers.SharedInformerFactory) { p.policies = f }

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
		"authorizer":              p.authorizer != nil,
	} {
		if !isSet {
			return fmt.Errorf("missing %s", missing)
		}
	}
	namespaces := p.informers.Core().V1().Namespaces()
	p.store = validating.NewStore(expression.Default())
	p.engine = validating.NewEngine(&namespaceGetter{namespaces.Lister(), p.client}, p.authorizer)
	policiesSynced, err := follow(p.store, p.policies.Admissionregistration().V1())
	if err != nil {
		return err
	}
	namespacesSynced := namespaces.Informer().HasSynced
	p.SetReadyFunc(func() bool { return namespacesSynced() && policiesSynced() })
	return nil
}

var errNotReady = errors.New("not yet ready to handle request")

// Validate implements admission.ValidationInterface. It denies a request when a
// policy does, and while policies are not known yet.
func (p *Plugin) Validate(ctx context.Context, a admission.Attributes, objects admission.ObjectInterfaces) error {
	if resource := a.GetResource().GroupResource(); !p.enabled || p.excluded.Has(resource) || configuration.Has(resource) {
		return nil
	}
	if !p.WaitForReady() {
		return admission.NewForbidden(a, errNotReady)
	}
	result, err := p.engine.Evaluate(ctx, a, objects, p.store.Snapshot())
	if err != nil {
		return err
	}
	return enforce(ctx, a, result)
}
