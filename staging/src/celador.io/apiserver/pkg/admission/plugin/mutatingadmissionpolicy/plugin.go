// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package mutatingadmissionpolicy is the admission plugin for MutatingAdmissionPolicy.
package mutatingadmissionpolicy

import (
	"context"
	"io"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apiserver/pkg/admission"
	manifestmetrics "k8s.io/apiserver/pkg/admission/plugin/manifest/metrics"
	"k8s.io/apiserver/pkg/admission/plugin/policy/config"
	"k8s.io/apiserver/pkg/admission/plugin/policy/mutating/metrics"
	"k8s.io/apiserver/pkg/audit"
	upstreamfeatures "k8s.io/apiserver/pkg/features"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"celador.io/admission/mutating"
	engine "celador.io/admission/policy"
	"celador.io/client-go/clientset"
	policyinformers "celador.io/client-go/informers"

	policyplugin "celador.io/apiserver/pkg/admission/plugin/policy"
	policyinit "celador.io/apiserver/pkg/admission/plugin/policy/initializer"
	"celador.io/apiserver/pkg/admission/plugin/typeconverters"
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

// Plugin enforces MutatingAdmissionPolicy. Admit is safe for concurrent use once
// ValidateInitialization returned.
type Plugin struct {
	*policyplugin.Plugin[policy, binding, mutating.Body]
	engine *mutating.Engine
}

var (
	_ admission.MutationInterface = &Plugin{}
	_ policyinit.PolicyPlugin     = &Plugin{}
)

// New returns a plugin that admits everything until it is initialized. It returns an error if the
// admission configuration is invalid.
func New(configFile io.Reader) (*Plugin, error) {
	settings, err := config.LoadMutatingConfig(configFile)
	if err != nil {
		return nil, err
	}
	p := &Plugin{}
	p.Plugin = policyplugin.NewPlugin(policyplugin.Descriptor[policy, binding, mutating.Body]{
		Name: PluginName,
		Gate: upstreamfeatures.MutatingAdmissionPolicy,
		// A deletion has no object to change.
		Operations: []admission.Operation{admission.Connect, admission.Create, admission.Update},
		Policies: func(f policyinformers.SharedInformerFactory) cache.SharedIndexInformer {
			return f.Admissionregistration().V1().MutatingAdmissionPolicies().Informer()
		},
		Bindings: func(client clientset.Interface) cache.ListerWatcher {
			bindings := client.AdmissionregistrationV1().MutatingAdmissionPolicyBindings()
			return policyplugin.ListerWatcher(client, bindings.List, bindings.Watch)
		},
		PolicyResource: "mutatingadmissionpolicies", BindingResource: "mutatingadmissionpolicybindings",
		SameSpec:     func(a, b policy) bool { return equality.Semantic.DeepEqual(&a.Spec, &b.Spec) },
		ManifestType: manifestmetrics.MAPManifestType,
		Manifests:    newLoader,
		NewEngine: func(d *policyplugin.Dependencies) policyplugin.Engine[policy, binding, mutating.Body] {
			schemas := typeconverters.New(d.OpenAPI(), d.IsBuiltIn)
			go schemas.Run(wait.ContextForChannel(d.Stop))
			p.engine = mutating.NewEngine(mutating.Config{
				Config:     engine.Config{Features: d.Features, Namespaces: d.Namespaces(), Params: d.Params(), Lookups: d.Lookups(), Authorizer: d.Authorizer},
				PluginName: PluginName, TypeConverters: schemas,
			})
			return p.engine
		},
	}, settings.StaticManifestsDir)
	return p, nil
}

// Admit implements admission.MutationInterface. It applies the policies to the object. It rejects
// requests until the informers of policies are synced.
func (p *Plugin) Admit(ctx context.Context, a admission.Attributes, objects admission.ObjectInterfaces) error {
	snapshots, n, err := p.Snapshots(ctx, a, objects)
	if err != nil || n == 0 {
		return err
	}
	audited := audit.AuditContextFrom(ctx).Enabled()
	result, err := p.engine.Mutate(ctx, a, objects, mutating.Options{Changes: audited}, snapshots[:n]...)
	p.report(ctx, a, &result, err == nil)
	if err != nil {
		return err
	}
	return result.Err()
}

// report counts the mutations and the ignored failures in metrics, and adds the audit annotations.
// failuresDecide is false if the engine returned an error, with which the request fails in any
// case: no failure counts as ignored then.
func (p *Plugin) report(ctx context.Context, a admission.Attributes, result *mutating.Result, failuresDecide bool) {
	policyplugin.ObserveConditions(ctx, a.GetOperation(), result.Conditions)
	for i := range result.Mutations {
		m := &result.Mutations[i]
		if m.Err != nil {
			metrics.Metrics.ObserveRejection(ctx, m.Elapsed, m.Policy, m.Binding, metrics.ErrorType(m.Err))
		} else {
			metrics.Metrics.ObserveAdmission(ctx, m.Elapsed, m.Policy, m.Binding, metrics.MutationNoError)
		}
	}
	result.Annotate(klog.FromContext(ctx), a)
	for _, f := range result.Failures {
		if f.Ignored && failuresDecide {
			p.LogIgnored(ctx, f.Policy, f.Binding, f.Message)
		}
	}
}
