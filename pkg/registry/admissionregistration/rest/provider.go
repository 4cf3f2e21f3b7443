// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package rest provides the storage of API group admissionregistration.k8s.io to a server.
package rest

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/apiserver/pkg/registry/generic"
	"k8s.io/apiserver/pkg/registry/generic/registry"
	"k8s.io/apiserver/pkg/registry/rest"
	genericapiserver "k8s.io/apiserver/pkg/server"
	serverstorage "k8s.io/apiserver/pkg/server/storage"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/client-go/discovery"
	basecompatibility "k8s.io/component-base/compatibility"
	"k8s.io/kubernetes/pkg/registry/admissionregistration/resolver"

	"celador.io/admission/policyspec"
	v1 "celador.io/api/admissionregistration/v1"
	"celador.io/api/admissionregistration/v1alpha1"
	"celador.io/api/admissionregistration/v1beta1"
	"celador.io/apiserver/pkg/admission/paramaccess"
	"celador.io/apiserver/pkg/admission/policyvalidation"
	"celador.io/apiserver/pkg/admission/typechecks"
	"celador.io/apiserver/pkg/features"

	"celador.io/celador/pkg/apis/admissionregistration"
	"celador.io/celador/pkg/kubeapiserver/builtintypes"
	"celador.io/celador/pkg/registry/admissionregistration/localclient"
	"celador.io/celador/pkg/registry/admissionregistration/policy"
	"celador.io/celador/pkg/registry/admissionregistration/scheme"
	"celador.io/celador/pkg/registry/admissionregistration/webhookconfiguration"
)

// StorageProvider provides the storage of every resource in API group admissionregistration.k8s.io.
// It implements RESTStorageProvider of k8s.io/kubernetes/pkg/controlplane/apiserver.
type StorageProvider struct {
	// Authorizer authorizes users to choose the parameters of policies. Required.
	Authorizer authorizer.UnconditionalAuthorizer
	// Discovery finds the resources that serve paramKinds. It must see all resources of the
	// server, custom and aggregated ones included. Required.
	Discovery discovery.DiscoveryInterface
	// StorageMediaType is the media type in which policies and bindings are written to etcd, a
	// value of the flag --storage-media-type. Empty means application/json.
	StorageMediaType string
	// EffectiveVersion decides in which API version policies and bindings are stored, and whether
	// MutatingAdmissionPolicy has a status. Nil means v1, and a status.
	EffectiveVersion basecompatibility.EffectiveVersion
	// Warnings warns about type errors of policies that are written. Optional.
	Warnings *typechecks.Warner
	// Stores receives the store of each resource when NewRESTStorage opens it. Optional.
	Stores *localclient.RegistryStores
}

// GroupName returns the name of the group.
func (StorageProvider) GroupName() string { return admissionregistration.GroupName }

// NewRESTStorage returns the storage of the resources and versions that enabled names. The result
// includes versions that the emulated Kubernetes release does not serve; InstallAPIs of
// k8s.io/kubernetes/pkg/controlplane/apiserver removes these. Feature gate
// ValidatingAdmissionPolicy must be on for validating policies and bindings; gate
// MutatingAdmissionPolicy does not matter, as in Kubernetes. All versions of a resource share one
// store and watch cache. NewRESTStorage returns an error for a missing field, for an unsupported
// media type, and when the getter does.
func (p StorageProvider) NewRESTStorage(enabled serverstorage.APIResourceConfigSource, getter generic.RESTOptionsGetter) (genericapiserver.APIGroupInfo, error) {
	policies, err := p.policyResources(getter)
	if err != nil {
		return genericapiserver.APIGroupInfo{}, err
	}
	group := genericapiserver.NewDefaultAPIGroupInfo(p.GroupName(), scheme.Scheme, scheme.ParameterCodec, scheme.Codecs)
	group.NegotiatedSerializer = newForeignKinds(group.NegotiatedSerializer)
	for _, resource := range append(webhookResources(getter), policies...) {
		if err := resource.addTo(group.VersionedResourcesStorageMap, enabled, p.Stores); err != nil {
			return genericapiserver.APIGroupInfo{}, err
		}
	}
	return group, nil
}

// resource is a resource of the group with its subresources.
type resource struct {
	name     string
	versions []schema.GroupVersion
	// open opens the store and returns its storage by subresource path: "" is the resource itself.
	open func() (*registry.Store, map[string]rest.Storage, error)
}

// addTo adds the storage of the enabled versions to group, which maps versions and resources to
// storage. It opens the store, and adds it to stores, if at least one version is enabled. stores
// may be nil.
func (r resource) addTo(group map[string]map[string]rest.Storage, enabled serverstorage.APIResourceConfigSource, stores *localclient.RegistryStores) error {
	served := slices.DeleteFunc(slices.Clone(r.versions), func(version schema.GroupVersion) bool {
		return !enabled.ResourceEnabled(version.WithResource(r.name))
	})
	if len(served) == 0 {
		return nil
	}
	store, storage, err := r.open()
	if err != nil {
		return fmt.Errorf("storage of %s: %w", r.name, err)
	}
	destroyAfter(len(served), store)
	if stores != nil {
		stores.Add(r.name, store)
	}
	for _, version := range served {
		if group[version.Version] == nil {
			group[version.Version] = map[string]rest.Storage{}
		}
		for subresource, s := range storage {
			group[version.Version][r.name+subresource] = s
		}
	}
	return nil
}

// destroyAfter makes the store that several versions of a resource share survive until the storage
// of the last version is destroyed. The server destroys the storage of each version on its own: at
// once if the emulated Kubernetes version does not serve it, otherwise when the server shuts down.
func destroyAfter(versions int, store *registry.Store) {
	destroy := store.DestroyFunc
	var destroyed atomic.Int32
	store.DestroyFunc = func() {
		if destroyed.Add(1) == int32(versions) {
			destroy()
		}
	}
}

// webhookResources returns the resources of webhook configurations. Their types are Kubernetes',
// which serves them in v1 only.
func webhookResources(getter generic.RESTOptionsGetter) []resource {
	configurations := func(name string, newREST func(generic.RESTOptionsGetter) (*registry.Store, rest.Storage, error)) resource {
		return resource{name: name, versions: []schema.GroupVersion{v1.SchemeGroupVersion}, open: func() (*registry.Store, map[string]rest.Storage, error) {
			store, storage, err := newREST(getter)
			return store, map[string]rest.Storage{"": storage}, err
		}}
	}
	return []resource{
		configurations("validatingwebhookconfigurations", webhookconfiguration.NewValidatingREST),
		configurations("mutatingwebhookconfigurations", webhookconfiguration.NewMutatingREST),
	}
}

// policyResources returns the resources of policies and bindings that feature gates enable. It
// returns an error if a required field of p is missing.
func (p StorageProvider) policyResources(getter generic.RESTOptionsGetter) ([]resource, error) {
	if p.Authorizer == nil || p.Discovery == nil {
		return nil, fmt.Errorf("group %s: StorageProvider needs an Authorizer and Discovery to check access to policy parameters", p.GroupName())
	}
	getter = newCodecGetter(getter, p.StorageMediaType, p.EffectiveVersion)
	kinds, err := resolver.NewDiscoveryResourceResolver(p.Discovery)
	if err != nil {
		return nil, err
	}
	params := paramaccess.Checker{Authorizer: p.Authorizer, Resolver: kinds}
	var validatingWarnings policyvalidation.TypeWarnings[*v1.ValidatingAdmissionPolicy]
	var mutatingWarnings policyvalidation.TypeWarnings[*v1.MutatingAdmissionPolicy]
	if p.Warnings != nil {
		validatingWarnings, mutatingWarnings = p.Warnings.Validating, p.Warnings.Mutating
	}

	// No version that a server can emulate has validating policies in v1alpha1, which Kubernetes
	// removed in 1.32.
	versions := []schema.GroupVersion{v1.SchemeGroupVersion, v1beta1.SchemeGroupVersion}
	var resources []resource
	if utilfeature.DefaultFeatureGate.Enabled(features.ValidatingAdmissionPolicy) {
		resources = policiesAndBindings(policy.Validating, policy.ValidatingBinding, versions, getter, params, builtintypes.TypeChecks.Validating, validatingWarnings, true)
	}
	versions = append(versions, v1alpha1.SchemeGroupVersion)
	return append(resources, policiesAndBindings(policy.Mutating, policy.MutatingBinding, versions, getter, params, builtintypes.TypeChecks.Mutating, mutatingWarnings, HasMutatingStatus(p.EffectiveVersion))...), nil
}

// policiesAndBindings returns the resources of a kind of policies, with or without a status, and of
// their bindings.
func policiesAndBindings[P, B policy.APIObject, S, BS policyspec.Spec, V, BV metav1.Object](
	policies policy.Descriptor[P, S, V], bindings policy.BindingDescriptor[B, P, BS, S, BV, V], versions []schema.GroupVersion,
	getter generic.RESTOptionsGetter, params paramaccess.Checker, types policyvalidation.TypeCheck[V], warnings policyvalidation.TypeWarnings[V], hasStatus bool,
) []resource {
	var stored *policy.REST // nil if policies are not served
	bound := func(ctx context.Context, name string) (policy P, err error) {
		if stored == nil {
			return policy, apierrors.NewNotFound(admissionregistration.Resource(policies.Resource()), name)
		}
		object, err := stored.Get(ctx, name, &metav1.GetOptions{})
		if err != nil {
			return policy, err
		}
		return object.(P), nil
	}
	var storedBindings *policy.REST // nil if bindings are not served
	return []resource{{
		name: policies.Resource(), versions: versions,
		open: func() (_ *registry.Store, _ map[string]rest.Storage, err error) {
			var status rest.Storage
			if stored, status, err = policy.NewREST(policies, getter, params, types, warnings, bindings.PoliciesBoundBy(lister(&storedBindings))); err != nil {
				return nil, nil, err
			}
			storage := map[string]rest.Storage{"": stored}
			if hasStatus {
				storage["/status"] = status
			}
			return stored.Store, storage, nil
		},
	}, {
		name: bindings.Resource(), versions: versions,
		open: func() (*registry.Store, map[string]rest.Storage, error) {
			var err error
			if storedBindings, err = policy.NewBindingREST(bindings, getter, params, bound, lister(&stored)); err != nil {
				return nil, nil, err
			}
			return storedBindings.Store, map[string]rest.Storage{"": storedBindings}, nil
		},
	}}
}

// lister returns the ListerGetter of a storage that may be opened later.
func lister(storage **policy.REST) policy.ListerGetter {
	return func() rest.Lister {
		if *storage == nil {
			return nil
		}
		return *storage
	}
}
