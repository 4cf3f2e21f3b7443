// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package localclient lists and watches policies and bindings in the stores of the same process. Informers of a
// kube-apiserver that use it decode each object once, for the watch cache, and send no requests.
package localclient

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"

	v1 "celador.io/api/admissionregistration/v1"
	"celador.io/client-go/clientset"
	typed "celador.io/client-go/clientset/typed/admissionregistration/v1"
)

// New returns a client that lists and watches v1 policies and bindings in stores. All other calls go to client.
// The lists may share memory with the watch caches of the stores: callers may assign fields of an item, but must not
// write to slices, maps or pointers that the fields hold. List and Watch wait for a watch cache that is not ready, and
// return a NotFound error for a resource without a store. Safe for concurrent use if client is.
func New(client clientset.Interface, stores *Stores) clientset.Interface {
	return localClient{client, stores}
}

type localClient struct {
	clientset.Interface
	stores *Stores
}

// IsWatchListSemanticsUnSupported makes informers list objects before they watch them. A watch that begins with
// the present objects would copy each.
func (localClient) IsWatchListSemanticsUnSupported() bool { return true }

// AdmissionregistrationV1 implements clientset.Interface.
func (c localClient) AdmissionregistrationV1() typed.AdmissionregistrationV1Interface {
	return group{c.Interface.AdmissionregistrationV1(), c.stores}
}

type group struct {
	typed.AdmissionregistrationV1Interface
	stores *Stores
}

// ValidatingAdmissionPolicies implements typed.ValidatingAdmissionPoliciesGetter.
func (g group) ValidatingAdmissionPolicies() typed.ValidatingAdmissionPolicyInterface {
	return validatingPolicies{g.AdmissionregistrationV1Interface.ValidatingAdmissionPolicies(), g.stores}
}

// ValidatingAdmissionPolicyBindings implements typed.ValidatingAdmissionPolicyBindingsGetter.
func (g group) ValidatingAdmissionPolicyBindings() typed.ValidatingAdmissionPolicyBindingInterface {
	return validatingBindings{g.AdmissionregistrationV1Interface.ValidatingAdmissionPolicyBindings(), g.stores}
}

// MutatingAdmissionPolicies implements typed.MutatingAdmissionPoliciesGetter.
func (g group) MutatingAdmissionPolicies() typed.MutatingAdmissionPolicyInterface {
	return mutatingPolicies{g.AdmissionregistrationV1Interface.MutatingAdmissionPolicies(), g.stores}
}

// MutatingAdmissionPolicyBindings implements typed.MutatingAdmissionPolicyBindingsGetter.
func (g group) MutatingAdmissionPolicyBindings() typed.MutatingAdmissionPolicyBindingInterface {
	return mutatingBindings{g.AdmissionregistrationV1Interface.MutatingAdmissionPolicyBindings(), g.stores}
}

type validatingPolicies struct {
	typed.ValidatingAdmissionPolicyInterface
	stores *Stores
}

// List implements typed.ValidatingAdmissionPolicyInterface.
func (c validatingPolicies) List(ctx context.Context, options metav1.ListOptions) (*v1.ValidatingAdmissionPolicyList, error) {
	list := &v1.ValidatingAdmissionPolicyList{}
	return list, c.stores.list(ctx, "validatingadmissionpolicies", options, list)
}

// Watch implements typed.ValidatingAdmissionPolicyInterface.
func (c validatingPolicies) Watch(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
	return c.stores.watch(ctx, "validatingadmissionpolicies", options, func() runtime.Object { return &v1.ValidatingAdmissionPolicy{} })
}

type validatingBindings struct {
	typed.ValidatingAdmissionPolicyBindingInterface
	stores *Stores
}

// List implements typed.ValidatingAdmissionPolicyBindingInterface.
func (c validatingBindings) List(ctx context.Context, options metav1.ListOptions) (*v1.ValidatingAdmissionPolicyBindingList, error) {
	list := &v1.ValidatingAdmissionPolicyBindingList{}
	return list, c.stores.list(ctx, "validatingadmissionpolicybindings", options, list)
}

// Watch implements typed.ValidatingAdmissionPolicyBindingInterface.
func (c validatingBindings) Watch(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
	return c.stores.watch(ctx, "validatingadmissionpolicybindings", options, func() runtime.Object { return &v1.ValidatingAdmissionPolicyBinding{} })
}

type mutatingPolicies struct {
	typed.MutatingAdmissionPolicyInterface
	stores *Stores
}

// List implements typed.MutatingAdmissionPolicyInterface.
func (c mutatingPolicies) List(ctx context.Context, options metav1.ListOptions) (*v1.MutatingAdmissionPolicyList, error) {
	list := &v1.MutatingAdmissionPolicyList{}
	return list, c.stores.list(ctx, "mutatingadmissionpolicies", options, list)
}

// Watch implements typed.MutatingAdmissionPolicyInterface.
func (c mutatingPolicies) Watch(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
	return c.stores.watch(ctx, "mutatingadmissionpolicies", options, func() runtime.Object { return &v1.MutatingAdmissionPolicy{} })
}

type mutatingBindings struct {
	typed.MutatingAdmissionPolicyBindingInterface
	stores *Stores
}

// List implements typed.MutatingAdmissionPolicyBindingInterface.
func (c mutatingBindings) List(ctx context.Context, options metav1.ListOptions) (*v1.MutatingAdmissionPolicyBindingList, error) {
	list := &v1.MutatingAdmissionPolicyBindingList{}
	return list, c.stores.list(ctx, "mutatingadmissionpolicybindings", options, list)
}

// Watch implements typed.MutatingAdmissionPolicyBindingInterface.
func (c mutatingBindings) Watch(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
	return c.stores.watch(ctx, "mutatingadmissionpolicybindings", options, func() runtime.Object { return &v1.MutatingAdmissionPolicyBinding{} })
}
