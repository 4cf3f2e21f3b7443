// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package apiserver serves CustomResourceDefinitions and custom resources. It replaces the server
// of k8s.io/apiextensions-apiserver/pkg/apiserver and takes the same configuration.
package apiserver

import (
	"fmt"
	"net/http"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	upstream "k8s.io/apiextensions-apiserver/pkg/apiserver"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/conversion"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset"
	listers "k8s.io/apiextensions-apiserver/pkg/client/listers/apiextensions/v1"
	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/client-go/tools/cache"

	"celador.io/apiextensions-apiserver/pkg/apis/apiextensions/scheme"
	"celador.io/apiextensions-apiserver/pkg/crdinformer"
	"celador.io/apiextensions-apiserver/pkg/customresource/serving"
	"celador.io/apiextensions-apiserver/pkg/discovery"
	ownclientset "celador.io/client-go/clientset"
)

// resyncPeriod is the resync period of the informer of CustomResourceDefinitions, as upstream's.
// Upstream's controllers check every CustomResourceDefinition again on resync.
const resyncPeriod = 5 * time.Minute

// New returns a server of CustomResourceDefinitions and custom resources that delegates other
// requests to delegate. Its post-start hooks start the informers and controllers, so the caller
// must prepare and run the server. config may come from upstream's options or from
// kube-apiserver's. New returns an error if it cannot open the storage, create a loopback client,
// or register the API group and the hooks.
func New(config upstream.CompletedConfig, delegate genericapiserver.DelegationTarget) (*upstream.CustomResourceDefinitions, error) {
	server, _, err := NewWithStorageOpener(config, delegate)
	return server, err
}

// NewWithStorageOpener is New. It also returns a StorageOpener, with which code in the same process
// reads custom resources without requests.
func NewWithStorageOpener(config upstream.CompletedConfig, delegate genericapiserver.DelegationTarget) (*upstream.CustomResourceDefinitions, *StorageOpener, error) {
	validation.RegisterMetrics()
	generic, err := config.GenericConfig.New("apiextensions-apiserver", delegate)
	if err != nil {
		return nil, nil, err
	}
	if err := installCRDs(generic, &config); err != nil {
		return nil, nil, err
	}
	client, err := clientset.NewForConfig(generic.LoopbackClientConfig)
	if err != nil {
		return nil, nil, fmt.Errorf("creating the loopback client of upstream's controllers: %w", err)
	}
	own, err := ownclientset.NewForConfig(generic.LoopbackClientConfig)
	if err != nil {
		return nil, nil, fmt.Errorf("creating the loopback client of CustomResourceDefinitions: %w", err)
	}
	informers, expressions := crdinformer.NewSharedInformerFactory(client, own.ApiextensionsV1().CustomResourceDefinitions(), resyncPeriod)
	crds := informers.Apiextensions().V1().CustomResourceDefinitions()

	next := delegate.UnprotectedHandler()
	if next == nil {
		next = http.NotFoundHandler()
	}
	discoveryHandler := discovery.NewHandler(scheme.Codecs, next)
	unreadable := newUnreadable(crds.Lister(), client.ApiextensionsV1().CustomResourceDefinitions())
	resources, err := newResources(generic, &config, crds.Lister(), expressions, unreadable)
	if err != nil {
		return nil, nil, err
	}
	followed := cache.NewTypedSharedIndexInformer[*apiextensionsv1.CustomResourceDefinition](crds.Informer())
	if _, err := followed.AddTypedEventHandler(resources.eventHandler()); err != nil {
		return nil, nil, err
	}
	h := &handler{
		lister: crds.Lister(), resources: resources, discovery: discoveryHandler, delegate: next,
		admission:         config.GenericConfig.AdmissionControl,
		minRequestTimeout: time.Duration(config.GenericConfig.MinRequestTimeout) * time.Second,
	}
	generic.Handler.NonGoRestfulMux.Handle("/apis", h)
	generic.Handler.NonGoRestfulMux.HandlePrefix("/apis/", h)
	generic.RegisterDestroyFunc(resources.destroy)

	controllers, err := newControllers(crds, expressions, client, resources, unreadable, discoveryHandler, generic, config.ExtraConfig.MasterCount)
	if err != nil {
		return nil, nil, err
	}
	if err := addHooks(generic, informers, controllers); err != nil {
		return nil, nil, err
	}
	return &upstream.CustomResourceDefinitions{GenericAPIServer: generic, Informers: informers}, &StorageOpener{h}, nil
}

func newResources(generic *genericapiserver.GenericAPIServer, config *upstream.CompletedConfig, lister listers.CustomResourceDefinitionLister, expressions expressionsOf, unreadable *unreadable) (*resources, error) {
	converters, err := conversion.NewCRConverterFactory(config.ExtraConfig.ServiceResolver, config.ExtraConfig.AuthResolverWrapper)
	if err != nil {
		return nil, err
	}
	builder := &serving.Builder{
		RESTOptions:         config.ExtraConfig.CRDRESTOptionsGetter,
		Converters:          converters,
		Authorizer:          generic.Authorizer,
		MaxRequestBodyBytes: config.GenericConfig.MaxRequestBodyBytes,
		Unreadable:          unreadable.report,
	}
	return &resources{
		lister: lister, expressions: expressions, build: builder.Build,
		// A request may take as long as the request timeout. Upstream waits twice as long, too.
		drainTimeout: 2 * config.GenericConfig.RequestTimeout,
		stopped:      make(chan struct{}),
	}, nil
}
