// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package validatingadmissionpolicy is the admission plugin that enforces
// ValidatingAdmissionPolicy. It feeds the engine with what informers see and turns
// the engine's decisions into a denial, warnings, audit annotations and metrics.
package validatingadmissionpolicy

import (
	"context"
	"io"

	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/initializer"
	"k8s.io/apiserver/pkg/admission/plugin/manifest/metrics"
	"k8s.io/apiserver/pkg/admission/plugin/policy/config"
	"k8s.io/component-base/featuregate"

	"celador.io/admission/expression"
	"celador.io/admission/validating"

	"celador.io/celador/pkg/features"
	kubeadmission "celador.io/celador/pkg/kubeapiserver/admission"
	policyplugin "celador.io/celador/plugin/pkg/admission/policy"
)

// PluginName is the name of the plugin in flags and admission configuration, and the kind of
// its policies.
const PluginName = "ValidatingAdmissionPolicy"

// Register adds the plugin to a registry under PluginName.
func Register(plugins *admission.Plugins) {
	plugins.Register(PluginName, func(configFile io.Reader) (admission.Interface, error) {
		return New(configFile)
	})
}

// Plugin enforces ValidatingAdmissionPolicy. Its setters are called before the server
// starts; Validate is safe for concurrent use from then on.
type Plugin struct {
	*policyplugin.Plugin
	policyplugin.Verdicts
	features validating.Features
	files    policyplugin.Files[validating.Snapshot]
	store    *validating.Store
	engine   *validating.Engine
}

var (
	_ admission.ValidationInterface     = &Plugin{}
	_ initializer.WantsFeatures         = &Plugin{}
	_ kubeadmission.PolicyCheckListener = &Plugin{}
)

// New returns a plugin that is inert until initialized. It fails when the admission
// configuration cannot be read.
func New(configFile io.Reader) (*Plugin, error) {
	settings, err := config.LoadValidatingConfig(configFile)
	if err != nil {
		return nil, err
	}
	return &Plugin{
		Plugin: policyplugin.NewPlugin(admission.Connect, admission.Create, admission.Delete, admission.Update),
		files:  policyplugin.Files[validating.Snapshot]{Dir: settings.StaticManifestsDir},
	}, nil
}

// InspectFeatureGates implements initializer.WantsFeatures.
func (p *Plugin) InspectFeatureGates(gates featuregate.FeatureGate) {
	p.Enabled = gates.Enabled(features.ValidatingAdmissionPolicy)
	p.features = Features(gates)
}

// Features returns the optional parts of the API that gates have on.
func Features(gates featuregate.FeatureGate) validating.Features {
	return validating.Features{
		Singleton:               gates.Enabled(features.ValidatingAdmissionPolicySingleton),
		ValidationFailurePolicy: gates.Enabled(features.ValidatingAdmissionPolicyValidationFailurePolicy),
		FallbackBinding:         gates.Enabled(features.ValidatingAdmissionPolicyFallbackBinding),
		TypeEnforcement:         gates.Enabled(features.AdmissionPolicyTypeEnforcement),
	}
}

// ValidateInitialization implements admission.InitializationValidator. It starts to
// follow policies as soon as the informers are started, or fails when something that
// the plugin needs was not set.
func (p *Plugin) ValidateInitialization() error {
	if !p.Enabled {
		return nil
	}
	if err := p.Plugin.ValidateInitialization(); err != nil {
		return err
	}
	p.store = validating.NewStore(expression.Default(), p.features, p.Params())
	p.Verdicts = policyplugin.Verdicts{Kind: PluginName, Engine: p.store}
	ownMetrics.Count(p.store.Counts)
	p.engine = validating.NewEngine(p.Namespaces(), p.Authorizer())
	informers := p.Policies().Admissionregistration().V1()
	synced, err := policyplugin.Follow(wait.ContextForChannel(p.Stop()), p.store, informers.ValidatingAdmissionPolicies().Informer(), informers.ValidatingAdmissionPolicyBindings().Informer(), ownMetrics)
	if err != nil {
		return err
	}
	p.WaitFor(synced)
	return p.files.Load(p.Plugin, metrics.VAPManifestType, newReader(p.features))
}

// Validate implements admission.ValidationInterface. It denies a request when a
// policy does, and while policies are not known yet. Those in files come first.
func (p *Plugin) Validate(ctx context.Context, a admission.Attributes, objects admission.ObjectInterfaces) error {
	snapshots, n, err := p.files.InEffect(p.Plugin, a, p.store)
	if err != nil || n == 0 {
		return err
	}
	result, err := p.engine.Evaluate(ctx, a, objects, snapshots[:n]...)
	if err != nil {
		return err
	}
	return enforce(ctx, a, result)
}
