// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"context"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset"
	crdinformers "k8s.io/apiextensions-apiserver/pkg/client/informers/externalversions/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/controller/apiapproval"
	"k8s.io/apiextensions-apiserver/pkg/controller/establish"
	"k8s.io/apiextensions-apiserver/pkg/controller/finalizer"
	"k8s.io/apiextensions-apiserver/pkg/controller/nonstructuralschema"
	"k8s.io/apiextensions-apiserver/pkg/controller/openapi"
	"k8s.io/apiextensions-apiserver/pkg/controller/openapiv3"
	"k8s.io/apiextensions-apiserver/pkg/controller/status"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apiserver/pkg/endpoints/discovery/aggregated"
	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/klog/v2"

	"celador.io/apiextensions-apiserver/pkg/crdinformer"
	"celador.io/apiextensions-apiserver/pkg/discovery"
)

// controllers holds the controllers that the server runs: upstream's controllers of
// CustomResourceDefinitions, and Celador's for discovery and for the condition ObjectsReadable.
type controllers struct {
	generic *genericapiserver.GenericAPIServer
	crds    crdinformers.CustomResourceDefinitionInformer
	// described is the informer for the controllers of OpenAPI documents. It is the same informer
	// as crds, but its lister adds sentences about default rules to the descriptions of fields.
	described described
	discovery *discovery.Controller
	run       []func(context.Context)
}

func newControllers(crds crdinformers.CustomResourceDefinitionInformer, expressions *crdinformer.ExpressionCache, client clientset.Interface, resources *resources, unreadable *unreadable, handler *discovery.Handler, generic *genericapiserver.GenericAPIServer, masterCount int) (*controllers, error) {
	aggregatedDiscovery := generic.AggregatedDiscoveryGroupManager
	if aggregatedDiscovery != nil {
		aggregatedDiscovery = aggregatedDiscovery.WithSource(aggregated.CRDSource)
	}
	discovery, err := discovery.NewController(crds, handler, aggregatedDiscovery)
	if err != nil {
		return nil, err
	}
	establishing := establish.NewEstablishingController(crds, client.ApiextensionsV1())
	if _, err := crds.Informer().AddEventHandler(queueForEstablishing(establishing.QueueCRD, masterCount)); err != nil {
		return nil, err
	}
	naming := status.NewNamingConditionController(klog.Background(), crds, client.ApiextensionsV1())
	nonStructural := nonstructuralschema.NewConditionController(crds, client.ApiextensionsV1())
	approval := apiapproval.NewKubernetesAPIApprovalPolicyConformantConditionController(crds, client.ApiextensionsV1())
	finalizing := finalizer.NewCRDFinalizer(crds, client.ApiextensionsV1(), resources)

	const workers = 5 // as many as upstream
	return &controllers{generic: generic, crds: crds, described: described{crds, expressions}, discovery: discovery, run: []func(context.Context){
		naming.RunWithContext,
		establishing.RunWithContext,
		func(ctx context.Context) { nonStructural.RunWithContext(workers, ctx) },
		func(ctx context.Context) { approval.RunWithContext(workers, ctx) },
		func(ctx context.Context) { finalizing.RunWithContext(workers, ctx) },
		unreadable.run,
	}}, nil
}

// start starts the controllers, which run until the context ends. It returns when the discovery of
// all CustomResourceDefinitions is complete.
func (c *controllers) start(ctx context.Context) {
	c.publishOpenAPI(ctx)
	for _, run := range c.run {
		go run(ctx)
	}
	synced := make(chan struct{})
	go c.discovery.Run(ctx, synced)
	select {
	case <-synced:
	case <-ctx.Done():
	}
}

// publishOpenAPI starts the controllers of OpenAPI documents, unless the server serves none. It
// must be called in a post-start hook: the generic server sets its OpenAPI services before it runs
// the hooks.
func (c *controllers) publishOpenAPI(ctx context.Context) {
	if c.generic.StaticOpenAPISpec == nil {
		return
	}
	if c.generic.OpenAPIVersionedService != nil {
		go openapi.NewController(c.described).Run(c.generic.StaticOpenAPISpec, c.generic.OpenAPIVersionedService, ctx.Done())
	}
	if c.generic.OpenAPIV3VersionedService != nil {
		go openapiv3.NewController(c.described).Run(c.generic.OpenAPIV3VersionedService, ctx.Done())
	}
}

// GetCustomResourceListerCollectionDeleter implements finalizer.CRClientGetter. Upstream's
// finalizer deletes with the result the custom resources of a CustomResourceDefinition that is
// being deleted. The error is errDeleted if the CustomResourceDefinition no longer exists, or
// another one has its name.
func (r *resources) GetCustomResourceListerCollectionDeleter(crd *apiextensionsv1.CustomResourceDefinition) (finalizer.ListerCollectionDeleter, error) {
	// crd is a copy that the controller changes. Use the object in the informer's cache instead,
	// because the ServedResource may keep a reference to it.
	cached, err := r.lister.Get(crd.Name)
	if apierrors.IsNotFound(err) || err == nil && cached.UID != crd.UID {
		return nil, errDeleted
	}
	if err != nil {
		return nil, err
	}
	resource, err := r.get(context.Background(), cached)
	if err != nil {
		return nil, err
	}
	return resource.CollectionDeleter(), nil
}
