// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package validatingadmissionpolicy is the admission plugin for ValidatingAdmissionPolicy.
package validatingadmissionpolicy

import (
	"context"
	"io"

	v1 "celador.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apiserver/pkg/admission"
	manifestmetrics "k8s.io/apiserver/pkg/admission/plugin/manifest/metrics"
	"k8s.io/apiserver/pkg/admission/plugin/policy/config"
	upstream "k8s.io/apiserver/pkg/admission/plugin/policy/validating"
	"k8s.io/apiserver/pkg/admission/plugin/policy/validating/metrics"
	"k8s.io/apiserver/pkg/warning"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"celador.io/admission/validating"
	"celador.io/client-go/clientset"
	policyinformers "celador.io/client-go/informers"

	policyplugin "celador.io/apiserver/pkg/admission/plugin/policy"
	policyinit "celador.io/apiserver/pkg/admission/plugin/policy/initializer"
	"celador.io/apiserver/pkg/features"
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

// Plugin enforces ValidatingAdmissionPolicy. Validate is safe for concurrent use once
// ValidateInitialization returned.
type Plugin struct {
	*policyplugin.Plugin[policy, binding, validating.Body]
	engine *validating.Engine
}

var (
	_ admission.ValidationInterface = &Plugin{}
	_ policyinit.PolicyPlugin       = &Plugin{}
)

// New returns a plugin that admits everything until it is initialized. It returns an error if the
// admission configuration is invalid.
func New(configFile io.Reader) (*Plugin, error) {
	settings, err := config.LoadValidatingConfig(configFile)
	if err != nil {
		return nil, err
	}
	p := &Plugin{}
	p.Plugin = policyplugin.NewPlugin(policyplugin.Descriptor[policy, binding, validating.Body]{
		Name:       PluginName,
		Gate:       features.ValidatingAdmissionPolicy,
		Operations: []admission.Operation{admission.Connect, admission.Create, admission.Delete, admission.Update},
		Policies: func(f policyinformers.SharedInformerFactory) cache.SharedIndexInformer {
			return f.Admissionregistration().V1().ValidatingAdmissionPolicies().Informer()
		},
		Bindings: func(client clientset.Interface) cache.ListerWatcher {
			bindings := client.AdmissionregistrationV1().ValidatingAdmissionPolicyBindings()
			return policyplugin.ListerWatcher(client, bindings.List, bindings.Watch)
		},
		PolicyResource: "validatingadmissionpolicies", BindingResource: "validatingadmissionpolicybindings",
		SameSpec:     func(a, b policy) bool { return equality.Semantic.DeepEqual(&a.Spec, &b.Spec) },
		ManifestType: manifestmetrics.VAPManifestType,
		Manifests:    newLoader,
		NewEngine: func(d *policyplugin.Dependencies) policyplugin.Engine[policy, binding, validating.Body] {
			p.engine = validating.NewEngine(validating.Config{
				Features: d.Features, Namespaces: d.Namespaces(), Params: d.Params(), Lookups: d.Lookups(), Schemas: d.Schemas(), Authorizer: d.Authorizer,
			})
			return p.engine
		},
	}, settings.StaticManifestsDir)
	return p, nil
}

// Validate implements admission.ValidationInterface. It denies the request if a policy denies it,
// and until the informers of policies are synced.
func (p *Plugin) Validate(ctx context.Context, a admission.Attributes, objects admission.ObjectInterfaces) error {
	snapshots, n, err := p.Snapshots(ctx, a, objects)
	if err != nil || n == 0 {
		return err
	}
	result, err := p.engine.Evaluate(ctx, a, objects, snapshots[:n]...)
	if err != nil {
		return err
	}
	defer result.Free()
	p.report(ctx, a, &result)
	return result.Err()
}

// report counts the decisions, warns the client, and annotates the audit event.
func (p *Plugin) report(ctx context.Context, a admission.Attributes, result *validating.Result) {
	for i := range result.Violations {
		d := &result.Violations[i]
		if d.Ignored {
			p.LogIgnored(ctx, d.Policy, d.Binding, d.Message)
		}
		observe(ctx, d)
	}
	for _, policy := range result.Ignored {
		p.Metrics.ObserveIgnored(ctx, policy)
	}
	policyplugin.ObserveConditions(ctx, a.GetOperation(), result.Conditions)
	for _, text := range result.Warnings() {
		warning.AddWarning(ctx, "", text)
	}
	result.Annotate(klog.FromContext(ctx), a)
}

// observe counts a decision in Kubernetes' metrics, once for each action of the binding. Decisions
// for which nothing was evaluated do not count.
func observe(ctx context.Context, d *validating.Decision) {
	if d.Misconfigured {
		return
	}
	if d.Ignored {
		metrics.Metrics.ObserveAdmission(ctx, d.Elapsed, d.Policy, d.Binding, errorType(d))
		return
	}
	for _, action := range d.Actions {
		switch action {
		case v1.Deny:
			metrics.Metrics.ObserveRejection(ctx, d.Elapsed, d.Policy, d.Binding, errorType(d))
		case v1.Warn:
			metrics.Metrics.ObserveWarn(ctx, d.Elapsed, d.Policy, d.Binding, errorType(d))
		case v1.Audit:
			metrics.Metrics.ObserveAudit(ctx, d.Elapsed, d.Policy, d.Binding, errorType(d))
		}
	}
}

// errorType returns the label of a violation in metrics. Like Kubernetes, it derives the label from
// the beginning of the message, even if the author of the policy has written that.
func errorType(d *validating.Decision) metrics.ValidationErrorType {
	return upstream.ErrorType(&upstream.PolicyDecision{Evaluation: upstream.EvalError, Message: d.Message})
}
