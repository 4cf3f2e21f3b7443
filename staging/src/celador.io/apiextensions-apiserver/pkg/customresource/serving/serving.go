// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package serving builds the storages and request scopes of all versions of one
// CustomResourceDefinition, with which an API server handles requests for its custom resources.
package serving

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	upstream "k8s.io/apiextensions-apiserver/pkg/registry/customresource"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/apiserver/pkg/endpoints/handlers"
	"k8s.io/apiserver/pkg/registry/rest"

	"celador.io/apiextensions-apiserver/pkg/apis/apiextensions"
	"celador.io/apiextensions-apiserver/pkg/customresource/versionedstorage"
	"celador.io/apiextensions-apiserver/pkg/registry/customresource"
)

// ServedResource serves the custom resources of one generation of a CustomResourceDefinition. It is
// safe for concurrent use.
type ServedResource struct {
	crd         atomic.Pointer[apiextensionsv1.CustomResourceDefinition]
	expressions *apiextensions.ExpressionFields
	versions    map[string]*VersionEndpoints
	types       managedfields.TypeConverter
	stored      *VersionEndpoints
	// asStored is the storage that the versions share. Its objects have the version in which they
	// are stored. Nil unless there are conversion rules.
	asStored *upstream.REST
	// stopCounting ends the count of objects that do not convert. Nil if they are not counted.
	stopCounting context.CancelFunc
	requests     *leases
	outdated     chan struct{}
}

// VersionEndpoints serves one version of the custom resources. It is immutable.
type VersionEndpoints struct {
	// Storage holds the storage of the resource. Its Status and Scale are nil if the version does
	// not declare the subresource.
	Storage customresource.Storages
	// Scope is the request scope of the resource itself. StatusScope and ScaleScope are nil if the
	// version does not declare the subresource.
	Scope, StatusScope, ScaleScope *handlers.RequestScope
	// Served is false for a storage version that is not served.
	Served bool
	// Deprecated makes metrics count requests as requests for a deprecated API.
	Deprecated bool
	// DeprecationWarning is the text of the warning, or empty if the version is not deprecated or
	// declares an empty text.
	DeprecationWarning string

	// Apply returns the storage and the request scope for one server-side apply of the resource,
	// and ApplyStatus those for its status. They must not be used for another request, because
	// field managers remember the objects that a request has converted. ApplyStatus is nil if the
	// version does not declare the subresource.
	Apply, ApplyStatus func() (rest.Patcher, *handlers.RequestScope, error)

	// versioned is the storage in Storage.CustomResource that converts objects of asStored. Nil
	// without conversion rules.
	versioned *versionedstorage.VersionStorage
	asStored  *upstream.REST
	// check refuses writes in the version that could not be served afterwards. Nil if whatever is
	// stored can be served.
	check *writeCheck
}

// Version returns a version by name, or nil if there is none that is served or stored.
func (r *ServedResource) Version(name string) *VersionEndpoints { return r.versions[name] }

// Stored returns the storage version, which exists even if it is not served.
func (r *ServedResource) Stored() *VersionEndpoints { return r.stored }

// TypeConverter returns the converter by which apply configurations of all versions are merged.
func (r *ServedResource) TypeConverter() managedfields.TypeConverter { return r.types }

// Name returns the name of the CustomResourceDefinition.
func (r *ServedResource) Name() string { return r.crd.Load().Name }

// Expressions returns the expressions that the ServedResource was built with.
func (r *ServedResource) Expressions() *apiextensions.ExpressionFields { return r.expressions }

// Current reports whether the ServedResource serves the spec, the expressions and the accepted
// names of crd. expressionsOf returns the expressions of crd. The generation alone does not tell: a
// server of Kubernetes that shares etcd drops expressions with any write and leaves the generation
// as it is, and a backup of etcd may have another spec in the same generation. The ServedResource
// may keep a reference to crd, which must not be changed if it returns true.
func (r *ServedResource) Current(crd *apiextensionsv1.CustomResourceDefinition, expressionsOf func(*apiextensionsv1.CustomResourceDefinition) *apiextensions.ExpressionFields) bool {
	own := r.crd.Load()
	if own == crd {
		return true
	}
	if own.UID != crd.UID || own.Generation != crd.Generation || r.expressions != expressionsOf(crd) ||
		!equality.Semantic.DeepEqual(&own.Status.AcceptedNames, &crd.Status.AcceptedNames) || !equality.Semantic.DeepEqual(&own.Spec, &crd.Spec) {
		return false
	}
	// Hold the object of the informer's cache instead: the next call compares pointers, and the old
	// object can be freed.
	r.crd.CompareAndSwap(own, crd)
	return true
}

// Retire closes the channel that Outdated returns. It must be called only once.
func (r *ServedResource) Retire() { close(r.outdated) }

// Outdated returns a channel that is closed when another ServedResource takes the place of this
// one, or when the CustomResourceDefinition is deleted. The ServedResource stays open for a while.
func (r *ServedResource) Outdated() <-chan struct{} { return r.outdated }

// Acquire keeps the Resource from being drained until Release. It returns false if Drain has been
// called; the Resource must not be used then.
func (r *ServedResource) Acquire() bool { return r.requests.take() }

// Release ends the use that began with a successful Acquire.
func (r *ServedResource) Release() { r.requests.giveBack() }

// Drain waits for the requests that have acquired the ServedResource, and returns an error if they
// have not ended within the timeout or when stop is closed. No request can acquire the
// ServedResource afterwards.
func (r *ServedResource) Drain(timeout time.Duration, stop <-chan struct{}) error {
	timer := time.NewTimer(timeout)
	defer timer.Stop()
	select {
	case <-r.requests.close():
		return nil
	case <-stop:
		return errors.New("the server has stopped")
	case <-timer.C:
		return fmt.Errorf("requests have not ended after %s", timeout)
	}
}

// Destroy closes the storages, which ends the watches that they serve. It may be called more than
// once.
func (r *ServedResource) Destroy() {
	if r.stopCounting != nil {
		r.stopCounting()
	}
	for _, version := range r.versions {
		version.destroy()
	}
	if r.asStored != nil {
		r.asStored.Destroy()
	}
}

// destroy closes the storage of the resource, which the subresources share. There is none if
// addStorage has failed.
func (v *VersionEndpoints) destroy() {
	if v.Storage.CustomResource != nil {
		v.Storage.CustomResource.Destroy()
	}
}
