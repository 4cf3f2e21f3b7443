// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"fmt"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apiserver/pkg/admission/initializer"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/client-go/dynamic"
	kubeinformers "k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/openapi"
	"k8s.io/component-base/featuregate"

	"celador.io/admission/matching"
	"celador.io/admission/policyspec"

	"celador.io/apiserver/pkg/admission/plugin/caches"
	"celador.io/apiserver/pkg/admission/plugin/lookupsource"
	"celador.io/apiserver/pkg/admission/plugin/paramsource"
	policyinit "celador.io/apiserver/pkg/admission/plugin/policy/initializer"
)

// Dependencies holds what a plugin gets from its server. The server calls the setters before it
// starts.
type Dependencies struct {
	// Features are the features of policies that are enabled.
	Features policyspec.Features
	// Client is the server's own client.
	Client kubernetes.Interface
	// Authorizer answers expressions that read 'authorizer'.
	Authorizer authorizer.UnconditionalAuthorizer
	// Stop is closed when the server has no more requests.
	Stop <-chan struct{}

	config    policyinit.Config
	gates     featuregate.FeatureGate
	excluded  sets.Set[schema.GroupResource]
	informers kubeinformers.SharedInformerFactory
	dynamic   dynamic.Interface
	params    *paramsource.Source
	id        string
}

var (
	_ initializer.WantsAPIServerID                 = &Dependencies{}
	_ initializer.WantsDrainedNotification         = &Dependencies{}
	_ initializer.WantsExcludedAdmissionResources  = &Dependencies{}
	_ initializer.WantsExternalKubeInformerFactory = &Dependencies{}
	_ initializer.WantsExternalKubeClientSet       = &Dependencies{}
	_ initializer.WantsDynamicClient               = &Dependencies{}
	_ initializer.WantsFeatures                    = &Dependencies{}
	_ initializer.WantsUnconditionalAuthorizer     = &Dependencies{}
)

// SetAPIServerID implements initializer.WantsAPIServerID.
func (d *Dependencies) SetAPIServerID(id string) { d.id = id }

// SetDrainedNotification implements initializer.WantsDrainedNotification.
func (d *Dependencies) SetDrainedNotification(stop <-chan struct{}) { d.Stop = stop }

// SetExcludedAdmissionResources implements initializer.WantsExcludedAdmissionResources.
func (d *Dependencies) SetExcludedAdmissionResources(resources []schema.GroupResource) {
	d.excluded = sets.New(resources...).Union(d.excluded)
}

// SetExternalKubeInformerFactory implements initializer.WantsExternalKubeInformerFactory.
func (d *Dependencies) SetExternalKubeInformerFactory(f kubeinformers.SharedInformerFactory) {
	d.informers = f
}

// SetExternalKubeClientSet implements initializer.WantsExternalKubeClientSet.
func (d *Dependencies) SetExternalKubeClientSet(client kubernetes.Interface) { d.Client = client }

// SetDynamicClient implements initializer.WantsDynamicClient.
func (d *Dependencies) SetDynamicClient(client dynamic.Interface) { d.dynamic = client }

// InspectFeatureGates implements initializer.WantsFeatures.
func (d *Dependencies) InspectFeatureGates(gates featuregate.FeatureGate) {
	d.gates, d.Features = gates, policyspec.FeaturesOf(gates)
}

// SetUnconditionalAuthorizer implements initializer.WantsUnconditionalAuthorizer.
func (d *Dependencies) SetUnconditionalAuthorizer(a authorizer.UnconditionalAuthorizer) {
	d.Authorizer = a
}

// SetConfig implements policyinit.PolicyPlugin.
func (d *Dependencies) SetConfig(config policyinit.Config) {
	if config.Lookups == nil {
		config.Lookups = &lookupsource.Shared{}
	}
	d.config = config
}

// IsBuiltIn reports whether the kinds of a group version are compiled into the server.
func (d *Dependencies) IsBuiltIn(version schema.GroupVersion) bool {
	return d.config.BuiltIn != nil && d.config.BuiltIn(version)
}

// ValidateInitialization implements admission.InitializationValidator. It returns an error if a
// setter was not called.
func (d *Dependencies) ValidateInitialization() error {
	for missing, isSet := range map[string]bool{
		"policy informer factory": d.config.Client != nil && d.config.Informers != nil,
		"informer factory":        d.informers != nil,
		"kubernetes client":       d.Client != nil,
		"dynamic client":          d.dynamic != nil,
		"authorizer":              d.Authorizer != nil,
		"stop channel":            d.Stop != nil,
	} {
		if !isSet {
			return fmt.Errorf("missing %s", missing)
		}
	}
	return nil
}

// Params returns the source of param objects. It must not be called at the same time as itself.
func (d *Dependencies) Params() *paramsource.Source {
	if d.params == nil {
		d.params = paramsource.New(singleRequests(d.Client.Discovery()), d.dynamic, d.config.Freshness.Limit, d.config.Installed, d.Stop)
	}
	return d.params
}

// Lookups returns the source of looked up objects, which the plugins of the server share.
func (d *Dependencies) Lookups() *lookupsource.Source {
	return d.config.Lookups.Get(func() *lookupsource.Source {
		return lookupsource.New(singleRequests(d.Client.Discovery()), d.dynamic, d.config.StoredObjects, d.config.Installed, d.Stop)
	})
}

// OpenAPI returns a client of the server that publishes the schemas of objects.
func (d *Dependencies) OpenAPI() openapi.Client {
	if d.config.OpenAPI != nil {
		return d.config.OpenAPI
	}
	return d.Client.Discovery().OpenAPIV3()
}

// Namespaces returns a getter of namespaces.
func (d *Dependencies) Namespaces() matching.NamespaceGetter {
	return &caches.NamespaceGetter{Lister: d.informers.Core().V1().Namespaces().Lister(), Client: d.Client}
}
