// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package mutatingadmissionpolicy is the admission plugin that enforces
// MutatingAdmissionPolicy. It feeds the engine with what informers see and turns what
// the engine did into a refusal, audit annotations and metrics.
package mutatingadmissionpolicy

import (
	"context"
	"io"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/initializer"
	"k8s.io/apiserver/pkg/admission/plugin/manifest/metrics"
	"k8s.io/apiserver/pkg/admission/plugin/policy/config"
	"k8s.io/apiserver/pkg/audit"
	upstreamfeatures "k8s.io/apiserver/pkg/features"
	"k8s.io/component-base/featuregate"

	"celador.io/admission/expression"
	"celador.io/admission/mutating"

	"celador.io/celador/pkg/features"
	kubeadmission "celador.io/celador/pkg/kubeapiserver/admission"
	"celador.io/celador/pkg/kubeapiserver/builtintypes"
	policyplugin "celador.io/celador/plugin/pkg/admission/policy"
	"celador.io/celador/plugin/pkg/admission/typeconverters"
)

// PluginName is the name of the plugin in flags and admission configuration, and the kind of
// its policies.
const PluginName = "MutatingAdmissionPolicy"

// Register adds the plugin to a registry under PluginName.
func Register(plugins *admission.Plugins) {
	plugins.Register(PluginName, func(configFile io.Reader) (admission.Interface, error) {
		return New(configFile)
	})
}

// Plugin enforces MutatingAdmissionPolicy. Its setters are called before the server
// starts; Admit is safe for concurrent use from then on.
type Plugin struct {
	*policyplugin.Plugin
	policyplugin.Verdicts
	features mutating.Features
	files    policyplugin.Files[mutating.Snapshot]
	store    *mutating.Store
	engine   *mutating.Engine
}

var (
	_ admission.MutationInterface       = &Plugin{}
	_ initializer.WantsFeatures         = &Plugin{}
	_ kubeadmission.PolicyCheckListener = &Plugin{}
)

// New returns a plugin that is inert until initialized. It fails when the admission
// configuration cannot be read.
func New(configFile io.Reader) (*Plugin, error) {
	settings, err := config.LoadMutatingConfig(configFile)
	if err != nil {
		return nil, err
	}
	return &Plugin{
		// There is nothing to change in what is deleted.
		Plugin: policyplugin.NewPlugin(admission.Connect, admission.Create, admission.Update),
		files:  policyplugin.Files[mutating.Snapshot]{Dir: settings.StaticManifestsDir},
	}, nil
}

// InspectFeatureGates implements initializer.WantsFeatures.
func (p *Plugin) InspectFeatureGates(gates featuregate.FeatureGate) {
	p.Enabled = gates.Enabled(upstreamfeatures.MutatingAdmissionPolicy)
	p.features = Features(gates)
}

// Features returns the optional parts of the API that gates have on.
func Features(gates featuregate.FeatureGate) mutating.Features {
	return mutating.Features{
		InlineExpressions: gates.Enabled(features.MutatingAdmissionPolicyInlineExpressions),
		TypeEnforcement:   gates.Enabled(features.AdmissionPolicyTypeEnforcement),
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
	schemas := typeconverters.New(p.Client().Discovery().OpenAPIV3(), builtIn)
	go schemas.Run(wait.ContextForChannel(p.Stop()))
	p.store = mutating.NewStore(expression.Default(), p.features, p.Params())
	p.Verdicts = policyplugin.Verdicts{Kind: PluginName, Engine: p.store}
	ownMetrics.Count(p.store.Counts)
	p.engine = mutating.NewEngine(PluginName, p.Namespaces(), p.Authorizer(), schemas, p.features)
	informers := p.Policies().Admissionregistration().V1()
	synced, err := policyplugin.Follow(wait.ContextForChannel(p.Stop()), p.store, informers.MutatingAdmissionPolicies().Informer(), informers.MutatingAdmissionPolicyBindings().Informer(), ownMetrics)
	if err != nil {
		return err
	}
	p.WaitFor(synced)
	return p.files.Load(p.Plugin, metrics.MAPManifestType, newReader(p.features))
}

// builtIn makes the scheme when it is first needed.
func builtIn(version schema.GroupVersion) bool {
	return builtintypes.Scheme().IsVersionRegistered(version)
}

// Admit implements admission.MutationInterface. It changes the object as policies say, and
// fails while these are not known yet. Those in files come first.
func (p *Plugin) Admit(ctx context.Context, a admission.Attributes, objects admission.ObjectInterfaces) error {
	snapshots, n, err := p.files.InEffect(p.Plugin, a, p.store)
	if err != nil || n == 0 {
		return err
	}
	audited := audit.AuditContextFrom(ctx).Enabled()
	result, status := p.engine.Mutate(ctx, a, objects, mutating.Options{Changes: audited}, snapshots[:n]...)
	observe(ctx, a, result)
	if status != nil {
		return status
	}
	return refuse(ctx, a, result.Failures)
}
