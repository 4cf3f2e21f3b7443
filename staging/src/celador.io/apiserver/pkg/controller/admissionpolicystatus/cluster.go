// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package admissionpolicystatus

import (
	"context"
	"errors"
	"fmt"
	"time"

	apiextensionsclient "k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset"
	apiextensionsinformers "k8s.io/apiextensions-apiserver/pkg/client/informers/externalversions"
	"k8s.io/apiserver/pkg/cel/environment"
	"k8s.io/client-go/discovery"
	eventsv1 "k8s.io/client-go/kubernetes/typed/events/v1"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	aggregatorclient "k8s.io/kube-aggregator/pkg/client/clientset_generated/clientset"
	aggregatorinformers "k8s.io/kube-aggregator/pkg/client/informers/externalversions"

	"celador.io/admission/typecheck"
	"celador.io/apiserver/pkg/controller/admissionpolicystatus/servedtypes"
)

// discoveryTimeout limits one request for the types of a group version.
const discoveryTimeout = 10 * time.Second

// informerFactory is the part of generated factories of informers that Run needs.
type informerFactory interface {
	StartWithContext(ctx context.Context)
	Shutdown()
}

// NewForCluster returns a controller for a host that is not the API server of the policies, and
// that finds types with the discovery, OpenAPI v3, CustomResourceDefinitions and APIServices of the
// cluster that client connects to. It sets the fields of c that are not Kinds, GroupVersion or
// Verdicts. Run starts the informers of types; the caller starts those of Kinds.
//
// The user of client needs permission to list and watch customresourcedefinitions and apiservices,
// to get customresourcedefinitions, and to create and patch events of events.k8s.io in namespace
// default.
func NewForCluster(client *rest.Config, c Config) (*Controller, error) {
	limited := rest.CopyConfig(client)
	limited.Timeout = discoveryTimeout
	types, discoveryErr := discovery.NewDiscoveryClientForConfig(limited)
	crds, crdsErr := apiextensionsclient.NewForConfig(client)
	services, servicesErr := aggregatorclient.NewForConfig(client)
	var eventsErr, metadataErr, checkerErr error
	c.Events, eventsErr = eventsv1.NewForConfig(client)
	c.CRDs, metadataErr = metadata.NewForConfig(client)
	c.Checker, checkerErr = typecheck.New(environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion()), nil)
	if err := errors.Join(discoveryErr, crdsErr, servicesErr, eventsErr, metadataErr, checkerErr); err != nil {
		return nil, fmt.Errorf("creating clients of the status controller: %w", err)
	}
	crdInformers := apiextensionsinformers.NewSharedInformerFactoryWithOptions(crds, 0, apiextensionsinformers.WithTransform(servedtypes.CompactCRD))
	serviceInformers := aggregatorinformers.NewSharedInformerFactory(services, 0)
	apiServices := serviceInformers.Apiregistration().V1().APIServices()
	c.Types = servedtypes.OfCluster(types, apiServices.Lister(), crdInformers.Apiextensions().V1().CustomResourceDefinitions())
	controller, err := New(c)
	if err != nil {
		return nil, err
	}
	if err := servedtypes.FollowAllAPIServices(apiServices.Informer(), controller.AggregatedVersionChanged); err != nil {
		return nil, err
	}
	controller.synced = append(controller.synced, apiServices.Informer().HasSynced)
	controller.informers = []informerFactory{crdInformers, serviceInformers}
	return controller, nil
}
