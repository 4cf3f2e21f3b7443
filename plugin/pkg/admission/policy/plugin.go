// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package policy is what the admission plugins for policies of all kinds are made of.
package policy

import (
	"errors"
	"fmt"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/initializer"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/client-go/dynamic"
	kubeinformers "k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"

	"celador.io/admission/matching"
	policyinformers "celador.io/client-go/informers"

	"celador.io/celador/pkg/apis/admissionregistration"
	kubeadmission "celador.io/celador/pkg/kubeapiserver/admission"
	"celador.io/celador/plugin/pkg/admission/paramsource"
)

// Policies and bindings are not subject to policies that clients write: one that
// refuses everything can always be deleted. Those in files may protect them.
var configuration = sets.New(
	admissionregistration.Resource("validatingadmissionpolicies"),
	admissionregistration.Resource("validatingadmissionpolicybindings"),
	admissionregistration.Resource("mutatingadmissionpolicies"),
	admissionregistration.Resource("mutatingadmissionpolicybindings"),
)

// Plugin has what a plugin for policies is given by the server. Its setters are called
// before the server starts.
type Plugin struct {
	*admission.Handler
	// Enabled is set when the kind of policy is not switched off.
	Enabled bool

	excluded   sets.Set[schema.GroupResource]
	policies   policyinformers.SharedInformerFactory
	informers  kubeinformers.SharedInformerFactory
	client     kubernetes.Interface
	dynamic    dynamic.Interface
	authorizer authorizer.UnconditionalAuthorizer
	stop       <-chan struct{}
	serverID   string

	synced atomic.Bool
}

var (
	_ initializer.WantsAPIServerID                 = &Plugin{}
	_ initializer.WantsDrainedNotification         = &Plugin{}
	_ initializer.WantsExcludedAdmissionResources  = &Plugin{}
	_ initializer.WantsExternalKubeInformerFactory = &Plugin{}
	_ initializer.WantsExternalKubeClientSet       = &Plugin{}
	_ initializer.WantsDynamicClient               = &Plugin{}
	_ initializer.WantsUnconditionalAuthorizer     = &Plugin{}
	_ kubeadmission.WantsPolicyInformers           = &Plugin{}
)

// NewPlugin returns a plugin for the given operations.
func NewPlugin(operations ...admission.Operation) *Plugin {
	return &Plugin{Handler: admission.NewHandler(operations...), excluded: sets.New[schema.GroupResource]()}
}

// SetAPIServerID implements initializer.WantsAPIServerID.
func (p *Plugin) SetAPIServerID(id string) { p.serverID = id }

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

// ValidateInitialization fails when something that the plugin needs was not set.
func (p *Plugin) ValidateInitialization() error {
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
	return nil
}

// Params returns a source of params.
func (p *Plugin) Params() *paramsource.Source {
	return paramsource.New(p.client.Discovery(), p.dynamic, p.stop)
}

// Namespaces returns what looks namespaces up.
func (p *Plugin) Namespaces() matching.NamespaceGetter {
	return &NamespaceGetter{p.informers.Core().V1().Namespaces().Lister(), p.client}
}

// Authorizer returns what answers expressions that ask for authorization.
func (p *Plugin) Authorizer() authorizer.UnconditionalAuthorizer { return p.authorizer }

// Client returns the server's own client.
func (p *Plugin) Client() kubernetes.Interface { return p.client }

// Policies returns the informers of policies and bindings.
func (p *Plugin) Policies() policyinformers.SharedInformerFactory { return p.policies }

// Stop is closed when the server has no more requests.
func (p *Plugin) Stop() <-chan struct{} { return p.stop }

// WaitFor has requests wait for namespaces and for policies.
func (p *Plugin) WaitFor(policiesSynced func() bool) {
	namespacesSynced := p.informers.Core().V1().Namespaces().Informer().HasSynced
	p.SetReadyFunc(func() bool {
		// Informers take locks to answer, and never go back on it.
		if !p.synced.Load() {
			p.synced.Store(namespacesSynced() && policiesSynced())
		}
		return p.synced.Load()
	})
}

var errNotReady = errors.New("not yet ready to handle request")

// subject says whether a request is subject to policies in files, and whether also to those
// that clients write. It fails while these are not known yet.
func (p *Plugin) subject(a admission.Attributes) (files, clients bool, err error) {
	resource := a.GetResource().GroupResource()
	if !p.Enabled || p.excluded.Has(resource) {
		return false, false, nil
	}
	if configuration.Has(resource) {
		return true, false, nil
	}
	// Waiting starts timers even when there is nothing to wait for.
	if !p.synced.Load() && !p.WaitForReady() {
		return false, false, admission.NewForbidden(a, errNotReady)
	}
	return true, true, nil
}
