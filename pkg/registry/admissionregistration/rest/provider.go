// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package rest installs group admissionregistration.k8s.io into a server.
package rest

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/apiserver/pkg/registry/generic"
	"k8s.io/apiserver/pkg/registry/rest"
	genericapiserver "k8s.io/apiserver/pkg/server"
	serverstorage "k8s.io/apiserver/pkg/server/storage"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/client-go/discovery"
	"k8s.io/kubernetes/pkg/registry/admissionregistration/resolver"

	v1 "celador.io/api/admissionregistration/v1"
	"celador.io/celador/pkg/apis/admissionregistration"
	"celador.io/celador/pkg/features"
	"celador.io/celador/pkg/kubeapiserver/builtintypes"
	"celador.io/celador/pkg/registry/admissionregistration/paramaccess"
	"celador.io/celador/pkg/registry/admissionregistration/policy"
	"celador.io/celador/pkg/registry/admissionregistration/scheme"
	"celador.io/celador/pkg/registry/admissionregistration/webhookconfiguration"
)

// StorageProvider makes the storage of every resource in the group. It implements
// RESTStorageProvider of k8s.io/kubernetes/pkg/controlplane/apiserver.
type StorageProvider struct {
	// Authorizer decides who may choose the parameters of policies. Required.
	Authorizer authorizer.UnconditionalAuthorizer
	// Discovery finds the resources that serve paramKinds; it sees what this server
	// serves, custom and aggregated resources included. Required.
	Discovery discovery.DiscoveryInterface
	// StorageMediaType is how policies and bindings are written to etcd: the value
	// of the flag --storage-media-type. Empty means application/json.
	StorageMediaType string
}

// GroupName returns the name of the group.
func (StorageProvider) GroupName() string { return admissionregistration.GroupName }

// NewRESTStorage returns the storage of those resources and versions that enabled
// names: policies and bindings in all versions and webhook configurations in v1, but no
// validating policies and bindings if feature gate ValidatingAdmissionPolicy is off. As in
// Kubernetes, the gate MutatingAdmissionPolicy is for enforcement alone. All versions of a
// resource share one store and watch cache. Errors are a missing field, an unsupported
// media type and those of the getter.
func (p StorageProvider) NewRESTStorage(enabled serverstorage.APIResourceConfigSource, getter generic.RESTOptionsGetter) (genericapiserver.APIGroupInfo, error) {
	ours, err := p.policyResources(getter)
	if err != nil {
		return genericapiserver.APIGroupInfo{}, err
	}
	resources := append(webhookResources(getter), ours...)
	group := genericapiserver.NewDefaultAPIGroupInfo(p.GroupName(), scheme.Scheme, scheme.ParameterCodec, scheme.Codecs)
	group.NegotiatedSerializer = newForeignKinds(group.NegotiatedSerializer)
	for _, resource := range resources {
		if err := resource.addTo(group.VersionedResourcesStorageMap, enabled); err != nil {
			return genericapiserver.APIGroupInfo{}, err
		}
	}
	return group, nil
}

// resource is one that the group can serve, with its subresources.
type resource struct {
	name     string
	versions []schema.GroupVersion
	// storage is by subresource path: "" is the resource itself.
	storage func() (map[string]rest.Storage, error)
}

// addTo makes the storage if any version is enabled, and puts it into each of those.
func (r resource) addTo(group map[string]map[string]rest.Storage, enabled serverstorage.APIResourceConfigSource) error {
	var storage map[string]rest.Storage
	for _, version := range r.versions {
		if !enabled.ResourceEnabled(version.WithResource(r.name)) {
			continue
		}
		if storage == nil {
			made, err := r.storage()
			if err != nil {
				return fmt.Errorf("storage of %s: %w", r.name, err)
			}
			storage = made
		}
		if group[version.Version] == nil {
			group[version.Version] = map[string]rest.Storage{}
		}
		for subresource, s := range storage {
			group[version.Version][r.name+subresource] = s
		}
	}
	return nil
}

// webhookResources are of upstream's types, in the one version that it serves.
func webhookResources(getter generic.RESTOptionsGetter) []resource {
	versions := []schema.GroupVersion{v1.SchemeGroupVersion}
	return []resource{{
		name: "validatingwebhookconfigurations", versions: versions,
		storage: func() (map[string]rest.Storage, error) {
			all, err := webhookconfiguration.NewValidatingREST(getter)
			return map[string]rest.Storage{"": all}, err
		},
	}, {
		name: "mutatingwebhookconfigurations", versions: versions,
		storage: func() (map[string]rest.Storage, error) {
			all, err := webhookconfiguration.NewMutatingREST(getter)
			return map[string]rest.Storage{"": all}, err
		},
	}}
}

func (p StorageProvider) policyResources(getter generic.RESTOptionsGetter) ([]resource, error) {
	if p.Authorizer == nil || p.Discovery == nil {
		return nil, fmt.Errorf("group %s: StorageProvider needs an Authorizer and Discovery to check access to policy parameters", p.GroupName())
	}
	getter, err := newCodecGetter(getter, p.StorageMediaType)
	if err != nil {
		return nil, err
	}
	kinds, err := resolver.NewDiscoveryResourceResolver(p.Discovery)
	if err != nil {
		return nil, err
	}
	params := paramaccess.Checker{Authorizer: p.Authorizer, Resolver: kinds}

	versions := scheme.Scheme.PrioritizedVersionsForGroup(p.GroupName())
	resources := mutatingResources(versions, getter, params)
	if utilfeature.DefaultFeatureGate.Enabled(features.ValidatingAdmissionPolicy) {
		resources = append(validatingResources(versions, getter, params), resources...)
	}
	return resources, nil
}

func validatingResources(versions []schema.GroupVersion, getter generic.RESTOptionsGetter, params paramaccess.Checker) []resource {
	const name = "validatingadmissionpolicies"
	var stored *policy.REST // nil unless policies are served
	bound := func(ctx context.Context, policy string) (*admissionregistration.ValidatingAdmissionPolicy, error) {
		if stored == nil {
			return nil, apierrors.NewNotFound(admissionregistration.Resource(name), policy)
		}
		obj, err := stored.Get(ctx, policy, &metav1.GetOptions{})
		if err != nil {
			return nil, err
		}
		return obj.(*admissionregistration.ValidatingAdmissionPolicy), nil
	}
	return []resource{{
		name: name, versions: versions,
		storage: func() (map[string]rest.Storage, error) {
			all, status, err := policy.NewREST(policy.Validating, getter, params, builtintypes.Validate)
			stored = all
			return map[string]rest.Storage{"": all, "/status": status}, err
		},
	}, {
		name: "validatingadmissionpolicybindings", versions: versions,
		storage: func() (map[string]rest.Storage, error) {
			all, err := policy.NewBindingREST(policy.ValidatingBinding, getter, params, bound)
			return map[string]rest.Storage{"": all}, err
		},
	}}
}

func mutatingResources(versions []schema.GroupVersion, getter generic.RESTOptionsGetter, params paramaccess.Checker) []resource {
	const name = "mutatingadmissionpolicies"
	var stored *policy.REST // nil unless policies are served
	bound := func(ctx context.Context, policy string) (*admissionregistration.MutatingAdmissionPolicy, error) {
		if stored == nil {
			return nil, apierrors.NewNotFound(admissionregistration.Resource(name), policy)
		}
		obj, err := stored.Get(ctx, policy, &metav1.GetOptions{})
		if err != nil {
			return nil, err
		}
		return obj.(*admissionregistration.MutatingAdmissionPolicy), nil
	}
	return []resource{{
		name: name, versions: versions,
		storage: func() (map[string]rest.Storage, error) {
			all, status, err := policy.NewREST(policy.Mutating, getter, params, builtintypes.ValidateMutating)
			stored = all
			return map[string]rest.Storage{"": all, "/status": status}, err
		},
	}, {
		name: "mutatingadmissionpolicybindings", versions: versions,
		storage: func() (map[string]rest.Storage, error) {
			all, err := policy.NewBindingREST(policy.MutatingBinding, getter, params, bound)
			return map[string]rest.Storage{"": all}, err
		},
	}}
}
