// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"errors"
	"fmt"
	"time"

	apiextensionsinformers "k8s.io/apiextensions-apiserver/pkg/client/informers/externalversions/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/cel/environment"
	genericapiserver "k8s.io/apiserver/pkg/server"
	serverstorage "k8s.io/apiserver/pkg/server/storage"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/client-go/discovery"
	eventsv1 "k8s.io/client-go/kubernetes/typed/events/v1"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	basecompatibility "k8s.io/component-base/compatibility"
	aggregatorapiserver "k8s.io/kube-aggregator/pkg/apiserver"

	"celador.io/admission/cel/expression"
	"celador.io/admission/policyspec"
	"celador.io/admission/typecheck"
	v1 "celador.io/api/admissionregistration/v1"
	"celador.io/apiserver/pkg/admission/typechecks"
	"celador.io/apiserver/pkg/controller/admissionpolicystatus"
	"celador.io/apiserver/pkg/controller/admissionpolicystatus/servedtypes"
	"celador.io/apiserver/pkg/features"
	"celador.io/client-go/clientset"
	"celador.io/client-go/informers"

	"celador.io/celador/pkg/kubeapiserver/builtintypes"
	registry "celador.io/celador/pkg/registry/admissionregistration/rest"
)

// typesTimeout limits a discovery request to an aggregated server.
const typesTimeout = 10 * time.Second

// addPolicyStatusController adds a post-start hook to the server that runs the status controller,
// if the server serves a kind of policy. warnings then checks the policies that clients write
// against the types that the controller knows. crds is nil if the server has no custom resources.
func addPolicyStatusController(config CompletedConfig, server *aggregatorapiserver.APIAggregator, crds apiextensionsinformers.CustomResourceDefinitionInformer, warnings *typechecks.Warner) error {
	apiServices := server.APIRegistrationInformers.Apiregistration().V1().APIServices()
	controller, err := newPolicyStatusController(config, crds, func(version schema.GroupVersion) bool {
		service, err := apiServices.Lister().Get(version.Version + "." + version.Group)
		return err == nil && service.Spec.Service != nil
	})
	if err == nil && controller != nil {
		err = servedtypes.FollowAPIServices(apiServices.Informer(), controller.AggregatedVersionChanged)
	}
	if err != nil {
		return fmt.Errorf("status controller of admission policies: %w", err)
	}
	if controller == nil {
		return nil
	}
	warnings.Use(func() typecheck.Types { return controller.Types().LocalTypeFinder(builtintypes.Resources) })
	return server.GenericAPIServer.AddPostStartHook("start-admission-policy-status-controller", func(hook genericapiserver.PostStartHookContext) error {
		go func() {
			if cache.WaitForCacheSync(hook.Done(), apiServices.Informer().HasSynced) {
				go controller.WriteStatus(hook)
				controller.Run(hook)
			}
		}()
		return nil
	})
}

// newPolicyStatusController returns the controller that checks the expressions of policies and
// writes their status, or nil if the server serves no kind of policy. aggregated reports whether an
// aggregated server serves a group version.
func newPolicyStatusController(config CompletedConfig, crds apiextensionsinformers.CustomResourceDefinitionInformer, aggregated func(schema.GroupVersion) bool) (*admissionpolicystatus.Controller, error) {
	base := config.KubeAPIs.ControlPlane
	loopback := base.Generic.LoopbackClientConfig
	kinds, err := servedKinds(base.APIResourceConfigSource, base.Generic.EffectiveVersion, loopback, config.PolicyInformers)
	if err != nil || len(kinds) == 0 {
		return nil, err
	}
	withTimeout := rest.CopyConfig(loopback)
	withTimeout.Timeout = typesTimeout
	types, discoveryErr := discovery.NewDiscoveryClientForConfig(withTimeout)
	events, eventsErr := eventsv1.NewForConfig(loopback)
	crdClient, crdsErr := metadata.NewForConfig(loopback)
	checker, checkerErr := newTypeChecker()
	if err := errors.Join(discoveryErr, eventsErr, crdsErr, checkerErr); err != nil {
		return nil, err
	}
	return admissionpolicystatus.New(admissionpolicystatus.Config{
		Kinds:    kinds,
		Verdicts: config.VerdictStores,
		Events:   events,
		CRDs:     crdClient,
		Types: servedtypes.Config{
			Discovery:  types,
			BuiltIn:    builtintypes.Scheme().IsVersionRegistered,
			Schemas:    builtintypes.Schemas,
			Aggregated: aggregated,
			CRDs:       crds,
		},
		Checker: checker,
	})
}

// newTypeChecker returns a checker of the expressions of policies that knows no types of resources.
// The status controller adds the types that are served at the time of each check, with
// typecheck.Checker.With.
func newTypeChecker() (*typecheck.Checker, error) {
	return typecheck.New(environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion()), nil)
}

// servedKinds returns the kinds of policies that the server serves with a status, which the status
// controller writes.
func servedKinds(resources serverstorage.APIResourceConfigSource, effective basecompatibility.EffectiveVersion, loopback *rest.Config, policies informers.SharedInformerFactory) ([]*admissionpolicystatus.Descriptor, error) {
	client, err := clientset.NewForConfig(loopback)
	if err != nil {
		return nil, err
	}
	served := func(name string) bool { return resources.ResourceEnabled(v1.SchemeGroupVersion.WithResource(name)) }
	gates, compiler := utilfeature.DefaultFeatureGate, expression.Default()
	enabled := policyspec.FeaturesOf(gates)
	var kinds []*admissionpolicystatus.Descriptor
	if served("validatingadmissionpolicies") && gates.Enabled(features.ValidatingAdmissionPolicy) {
		kinds = append(kinds, admissionpolicystatus.Validating(client, policies, compiler, enabled))
	}
	if served("mutatingadmissionpolicies") && registry.HasMutatingStatus(effective) {
		kinds = append(kinds, admissionpolicystatus.Mutating(client, policies, compiler, enabled))
	}
	return kinds, nil
}
