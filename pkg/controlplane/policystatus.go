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
	aggregatorapiserver "k8s.io/kube-aggregator/pkg/apiserver"

	"celador.io/admission/expression"
	"celador.io/admission/typecheck"
	v1 "celador.io/api/admissionregistration/v1"
	"celador.io/client-go/clientset"

	"celador.io/celador/pkg/controller/admissionpolicystatus"
	"celador.io/celador/pkg/controller/admissionpolicystatus/servedtypes"
	"celador.io/celador/pkg/features"
	"celador.io/celador/pkg/kubeapiserver/builtintypes"
)

// typesTimeout is how long another server has to say which types it serves.
const typesTimeout = 10 * time.Second

// addPolicyStatusController adds a hook to the server that runs the controller, if policies
// are served. Without crds there are no custom resources. The listeners are told what checks
// of policies find.
func addPolicyStatusController(config CompletedConfig, server *aggregatorapiserver.APIAggregator, crds apiextensionsinformers.CustomResourceDefinitionInformer, listeners ...admissionpolicystatus.Listener) error {
	base := config.KubeAPIs.ControlPlane
	kinds, err := servedKinds(base.APIResourceConfigSource, base.Generic.LoopbackClientConfig)
	if err != nil {
		return fmt.Errorf("status controller of admission policies: %w", err)
	}
	if len(kinds) == 0 {
		return nil
	}
	controllerConfig, err := policyStatusConfig(base.Generic.LoopbackClientConfig)
	if err != nil {
		return fmt.Errorf("status controller of admission policies: %w", err)
	}
	controllerConfig.Kinds = kinds
	apiServices := server.APIRegistrationInformers.Apiregistration().V1().APIServices()
	controllerConfig.Types.Definitions = crds
	controllerConfig.Types.Aggregated = func(version schema.GroupVersion) bool {
		service, err := apiServices.Lister().Get(version.Version + "." + version.Group)
		return err == nil && service.Spec.Service != nil
	}
	controller, err := admissionpolicystatus.New(controllerConfig, listeners...)
	if err != nil {
		return fmt.Errorf("status controller of admission policies: %w", err)
	}
	if err := followAPIServices(apiServices.Informer(), controller.ServedElsewhere); err != nil {
		return fmt.Errorf("status controller of admission policies: %w", err)
	}
	return server.GenericAPIServer.AddPostStartHook("start-admission-policy-status-controller", func(hook genericapiserver.PostStartHookContext) error {
		go func() {
			if cache.WaitForCacheSync(hook.Done(), apiServices.Informer().HasSynced) {
				controller.Run(hook)
			}
		}()
		return nil
	})
}

// servedKinds returns the kinds of policies that are served.
func servedKinds(resources serverstorage.APIResourceConfigSource, loopback *rest.Config) ([]*admissionpolicystatus.Kind, error) {
	client, err := clientset.NewForConfig(loopback)
	if err != nil {
		return nil, err
	}
	served := func(name string) bool { return resources.ResourceEnabled(v1.SchemeGroupVersion.WithResource(name)) }
	gates, compiler := utilfeature.DefaultFeatureGate, expression.Default()
	var kinds []*admissionpolicystatus.Kind
	if served("validatingadmissionpolicies") && gates.Enabled(features.ValidatingAdmissionPolicy) {
		kinds = append(kinds, admissionpolicystatus.Validating(client, compiler, features.Validating(gates)))
	}
	if served("mutatingadmissionpolicies") {
		kinds = append(kinds, admissionpolicystatus.Mutating(client, compiler, features.Mutating(gates)))
	}
	return kinds, nil
}

// policyStatusConfig returns what can be made of a loopback connection and what is compiled
// in.
func policyStatusConfig(loopback *rest.Config) (admissionpolicystatus.Config, error) {
	impatient := rest.CopyConfig(loopback)
	impatient.Timeout = typesTimeout
	types, discoveryErr := discovery.NewDiscoveryClientForConfig(impatient)
	events, eventsErr := eventsv1.NewForConfig(loopback)
	definitions, definitionsErr := metadata.NewForConfig(loopback)
	checker, checkerErr := typecheck.New(environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion()), nil)
	return admissionpolicystatus.Config{
		Events:      events,
		Definitions: definitions,
		Types: servedtypes.Config{
			Discovery: types,
			BuiltIn:   builtintypes.Scheme().IsVersionRegistered,
			Schemas:   builtintypes.Schemas,
		},
		Checker: checker,
	}, errors.Join(discoveryErr, eventsErr, definitionsErr, checkerErr)
}
