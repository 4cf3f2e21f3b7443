// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"fmt"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	genericapifilters "k8s.io/apiserver/pkg/endpoints/filters"
	genericapiserver "k8s.io/apiserver/pkg/server"
	serverstorage "k8s.io/apiserver/pkg/server/storage"
	"k8s.io/apiserver/pkg/util/notfoundhandler"
	"k8s.io/client-go/discovery"
	aggregatorapiserver "k8s.io/kube-aggregator/pkg/apiserver"
	upstream "k8s.io/kubernetes/pkg/controlplane"
	controlplaneapiserver "k8s.io/kubernetes/pkg/controlplane/apiserver"

	apiextensions "celador.io/apiextensions-apiserver/pkg/apiserver"
	"celador.io/apiserver/pkg/admission/typechecks"

	"celador.io/celador/pkg/apis/admissionregistration"
	"celador.io/celador/pkg/registry/admissionregistration/rest"
)

// CreateServerChain creates the aggregator, the server of the built-in groups and the server of
// custom resources. Each delegates requests that it does not serve to the next. CreateServerChain
// returns the aggregator, which does not serve yet. config cannot be used again. It fails if the
// options are invalid or the storage cannot be set up.
func CreateServerChain(config CompletedConfig) (*aggregatorapiserver.APIAggregator, error) {
	last := genericapiserver.NewEmptyDelegateWithCustomHandler(
		notfoundhandler.New(config.KubeAPIs.ControlPlane.Generic.Serializer, genericapifilters.NoMuxAndDiscoveryIncompleteKey))
	extensions, customResources, err := apiextensions.NewWithStorageOpener(config.ApiExtensions, last)
	if err != nil {
		return nil, fmt.Errorf("creating the custom resource server: %w", err)
	}
	checker, err := newTypeChecker()
	if err != nil {
		return nil, fmt.Errorf("creating the type checker of policies: %w", err)
	}
	warnings := typechecks.New(checker)
	kube, err := newKubeServer(config, extensions.GenericAPIServer, warnings)
	if err != nil {
		return nil, fmt.Errorf("creating the server of the built-in groups: %w", err)
	}

	crds := extensions.Informers.Apiextensions().V1().CustomResourceDefinitions()
	crdsServed := config.ApiExtensions.GenericConfig.MergedResourceConfig.ResourceEnabled(apiextensionsv1.SchemeGroupVersion.WithResource("customresourcedefinitions"))
	aggregator, err := controlplaneapiserver.CreateAggregatorServer(config.Aggregator, kube.ControlPlane.GenericAPIServer, crds, crdsServed, apiServicePriorities())
	if err != nil {
		return nil, fmt.Errorf("creating the aggregator: %w", err)
	}
	apiServices := aggregator.APIRegistrationInformers.Apiregistration().V1().APIServices()
	config.storedObjects.ReadCustomResources(localCustomResources{customResources, apiServices.Lister()})
	if err := config.paths.announce(aggregator.GenericAPIServer); err != nil {
		return nil, err
	}
	if !crdsServed {
		crds = nil
	}
	if err := addPolicyStatusController(config, aggregator, crds, warnings); err != nil {
		return nil, err
	}
	return aggregator, nil
}

// newKubeServer returns upstream's server of the built-in groups with Celador's API group in place
// of upstream's. All groups are installed when it returns, so that the aggregator finds them.
func newKubeServer(config CompletedConfig, delegate genericapiserver.DelegationTarget, warnings *typechecks.Warner) (*upstream.Instance, error) {
	controlPlane := config.KubeAPIs.ControlPlane
	group, err := storageProvider(config, warnings)
	if err != nil {
		return nil, err
	}

	served := controlPlane.APIResourceConfigSource
	controlPlane.APIResourceConfigSource = withoutGroup{served, group.GroupName()}
	server, err := config.KubeAPIs.New(delegate)
	controlPlane.APIResourceConfigSource = served
	if err != nil {
		return nil, err
	}
	server.ControlPlane.APIResourceConfigSource = served
	return server, server.ControlPlane.InstallAPIs(group)
}

func storageProvider(config CompletedConfig, warnings *typechecks.Warner) (controlplaneapiserver.RESTStorageProvider, error) {
	generic := config.KubeAPIs.ControlPlane.Generic
	client, err := discovery.NewDiscoveryClientForConfig(generic.LoopbackClientConfig)
	if err != nil {
		return nil, fmt.Errorf("creating the loopback discovery client of group %s: %w", admissionregistration.GroupName, err)
	}
	return rest.StorageProvider{
		Authorizer:       generic.Authorization.Authorizer,
		Discovery:        client,
		StorageMediaType: config.Options.Etcd.DefaultStorageMediaType,
		EffectiveVersion: generic.EffectiveVersion,
		Warnings:         warnings,
		Stores:           config.PolicyStores,
	}, nil
}

// withoutGroup disables one API group in a resource configuration, so that upstream's server does
// not install its own implementation of the group.
type withoutGroup struct {
	serverstorage.APIResourceConfigSource
	group string
}

func (w withoutGroup) ResourceEnabled(resource schema.GroupVersionResource) bool {
	return resource.Group != w.group && w.APIResourceConfigSource.ResourceEnabled(resource)
}

func (w withoutGroup) AnyResourceForGroupEnabled(group string) bool {
	return group != w.group && w.APIResourceConfigSource.AnyResourceForGroupEnabled(group)
}

func (w withoutGroup) ResourceExplicitlyEnabled(resource schema.GroupVersionResource) bool {
	return resource.Group != w.group && w.APIResourceConfigSource.ResourceExplicitlyEnabled(resource)
}

func (w withoutGroup) VersionExplicitlyEnabled(version schema.GroupVersion) bool {
	return version.Group != w.group && w.APIResourceConfigSource.VersionExplicitlyEnabled(version)
}
