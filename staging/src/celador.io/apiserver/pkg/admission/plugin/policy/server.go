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
	"k8s.io/component-base/featuregate"

	"celador.io/admission/matching"
	"celador.io/admission/policyspec"

	"celador.io/apiserver/pkg/admission/plugin/caches"
	"celador.io/apiserver/pkg/admission/plugin/lookupsource"
	"celador.io/apiserver/pkg/admission/plugin/paramsource"
	policyinit "celador.io/apiserver/pkg/admission/plugin/policy/initializer"
)

// Server holds what a plugin gets from the server. The server calls the setters before it starts.
type Server struct {
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
	lookups   *lookupsource.Source
	id        string
}

var (
	_ initializer.WantsAPIServerID                 = &Server{}
	_ initializer.WantsDrainedNotification         = &Server{}
	_ initializer.WantsExcludedAdmissionResources  = &Server{}
	_ initializer.WantsExternalKubeInformerFactory = &Server{}
	_ initializer.WantsExternalKubeClientSet       = &Server{}
	_ initializer.WantsDynamicClient               = &Server{}
	_ initializer.WantsFeatures                    = &Server{}
	_ initializer.WantsUnconditionalAuthorizer     = &Server{}
)

// SetAPIServerID implements initializer.WantsAPIServerID.
func (s *Server) SetAPIServerID(id string) { s.id = id }

// SetDrainedNotification implements initializer.WantsDrainedNotification.
func (s *Server) SetDrainedNotification(stop <-chan struct{}) { s.Stop = stop }

// SetExcludedAdmissionResources implements initializer.WantsExcludedAdmissionResources.
func (s *Server) SetExcludedAdmissionResources(resources []schema.GroupResource) {
	s.excluded = sets.New(resources...).Union(s.excluded)
}

// SetExternalKubeInformerFactory implements initializer.WantsExternalKubeInformerFactory.
func (s *Server) SetExternalKubeInformerFactory(f kubeinformers.SharedInformerFactory) {
	s.informers = f
}

// SetExternalKubeClientSet implements initializer.WantsExternalKubeClientSet.
func (s *Server) SetExternalKubeClientSet(client kubernetes.Interface) { s.Client = client }

// SetDynamicClient implements initializer.WantsDynamicClient.
func (s *Server) SetDynamicClient(client dynamic.Interface) { s.dynamic = client }

// InspectFeatureGates implements initializer.WantsFeatures.
func (s *Server) InspectFeatureGates(gates featuregate.FeatureGate) {
	s.gates, s.Features = gates, policyspec.FeaturesOf(gates)
}

// SetUnconditionalAuthorizer implements initializer.WantsUnconditionalAuthorizer.
func (s *Server) SetUnconditionalAuthorizer(a authorizer.UnconditionalAuthorizer) { s.Authorizer = a }

// SetConfig implements policyinit.PolicyPlugin.
func (s *Server) SetConfig(config policyinit.Config) { s.config = config }

// IsBuiltIn reports whether the kinds of a group version are compiled into the server.
func (s *Server) IsBuiltIn(version schema.GroupVersion) bool {
	return s.config.BuiltIn != nil && s.config.BuiltIn(version)
}

// ValidateInitialization implements admission.InitializationValidator. It returns an error if a
// setter was not called.
func (s *Server) ValidateInitialization() error {
	for missing, isSet := range map[string]bool{
		"policy informer factory": s.config.Client != nil && s.config.Informers != nil,
		"informer factory":        s.informers != nil,
		"kubernetes client":       s.Client != nil,
		"dynamic client":          s.dynamic != nil,
		"authorizer":              s.Authorizer != nil,
		"stop channel":            s.Stop != nil,
	} {
		if !isSet {
			return fmt.Errorf("missing %s", missing)
		}
	}
	return nil
}

// Params returns the source of param objects. It must not be called at the same time as itself.
func (s *Server) Params() *paramsource.Source {
	if s.params == nil {
		s.params = paramsource.New(singleRequests(s.Client.Discovery()), s.dynamic, s.config.Freshness.Limit, s.config.Installed, s.Stop)
	}
	return s.params
}

// Lookups returns the source of looked up objects. It must not be called at the same time as itself.
func (s *Server) Lookups() *lookupsource.Source {
	if s.lookups == nil {
		s.lookups = lookupsource.New(singleRequests(s.Client.Discovery()), s.dynamic, s.config.StoredObjects, s.config.Installed, s.Stop)
	}
	return s.lookups
}

// Namespaces returns a getter of namespaces.
func (s *Server) Namespaces() matching.NamespaceGetter {
	return &caches.NamespaceGetter{Lister: s.informers.Core().V1().Namespaces().Lister(), Client: s.Client}
}
