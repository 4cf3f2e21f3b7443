// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package localclient lists and watches policies and bindings in the stores of the same process.
// Informers of a kube-apiserver that use it decode each object once, for the watch cache, and send
// no requests.
package localclient

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"

	v1 "celador.io/api/admissionregistration/v1"
	"celador.io/client-go/clientset"
	typed "celador.io/client-go/clientset/typed/admissionregistration/v1"

	"celador.io/celador/pkg/registry/admissionregistration/policy"
)

// New returns a client that lists and watches v1 policies and bindings in stores. All other calls
// go to client. The lists may share memory with the watch caches of the stores: callers may assign
// fields of an item, but must not write to slices, maps or pointers that the fields hold. List and
// Watch wait for a watch cache that is not ready, and return a NotFound error for a resource
// without a store. Safe for concurrent use if client is.
func New(client clientset.Interface, stores *RegistryStores) clientset.Interface {
	return localClient{client, stores}
}

type localClient struct {
	clientset.Interface
	stores *RegistryStores
}

// IsWatchListSemanticsUnSupported makes informers list objects before they watch them. A watch that
// begins with the present objects would copy each.
func (localClient) IsWatchListSemanticsUnSupported() bool { return true }

// AdmissionregistrationV1 implements clientset.Interface.
func (c localClient) AdmissionregistrationV1() typed.AdmissionregistrationV1Interface {
	return group{c.Interface.AdmissionregistrationV1(), c.stores}
}

type group struct {
	typed.AdmissionregistrationV1Interface
	stores *RegistryStores
}

// ValidatingAdmissionPolicies implements typed.ValidatingAdmissionPoliciesGetter.
func (g group) ValidatingAdmissionPolicies() typed.ValidatingAdmissionPolicyInterface {
	return validatingPolicies{g.AdmissionregistrationV1Interface.ValidatingAdmissionPolicies(), resource{g.stores, policy.Validating.Resource(), func() runtime.Object { return &v1.ValidatingAdmissionPolicy{} }}}
}

// ValidatingAdmissionPolicyBindings implements typed.ValidatingAdmissionPolicyBindingsGetter.
func (g group) ValidatingAdmissionPolicyBindings() typed.ValidatingAdmissionPolicyBindingInterface {
	return validatingBindings{g.AdmissionregistrationV1Interface.ValidatingAdmissionPolicyBindings(), resource{g.stores, policy.ValidatingBinding.Resource(), func() runtime.Object { return &v1.ValidatingAdmissionPolicyBinding{} }}}
}

// MutatingAdmissionPolicies implements typed.MutatingAdmissionPoliciesGetter.
func (g group) MutatingAdmissionPolicies() typed.MutatingAdmissionPolicyInterface {
	return mutatingPolicies{g.AdmissionregistrationV1Interface.MutatingAdmissionPolicies(), resource{g.stores, policy.Mutating.Resource(), func() runtime.Object { return &v1.MutatingAdmissionPolicy{} }}}
}

// MutatingAdmissionPolicyBindings implements typed.MutatingAdmissionPolicyBindingsGetter.
func (g group) MutatingAdmissionPolicyBindings() typed.MutatingAdmissionPolicyBindingInterface {
	return mutatingBindings{g.AdmissionregistrationV1Interface.MutatingAdmissionPolicyBindings(), resource{g.stores, policy.MutatingBinding.Resource(), func() runtime.Object { return &v1.MutatingAdmissionPolicyBinding{} }}}
}

type validatingPolicies struct {
	typed.ValidatingAdmissionPolicyInterface
	stored resource
}

// List implements typed.ValidatingAdmissionPolicyInterface.
func (c validatingPolicies) List(ctx context.Context, options metav1.ListOptions) (*v1.ValidatingAdmissionPolicyList, error) {
	list := &v1.ValidatingAdmissionPolicyList{}
	return list, c.stored.list(ctx, options, list)
}

// Watch implements typed.ValidatingAdmissionPolicyInterface.
func (c validatingPolicies) Watch(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
	return c.stored.watch(ctx, options)
}

type validatingBindings struct {
	typed.ValidatingAdmissionPolicyBindingInterface
	stored resource
}

// List implements typed.ValidatingAdmissionPolicyBindingInterface.
func (c validatingBindings) List(ctx context.Context, options metav1.ListOptions) (*v1.ValidatingAdmissionPolicyBindingList, error) {
	list := &v1.ValidatingAdmissionPolicyBindingList{}
	return list, c.stored.list(ctx, options, list)
}

// Watch implements typed.ValidatingAdmissionPolicyBindingInterface.
func (c validatingBindings) Watch(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
	return c.stored.watch(ctx, options)
}

type mutatingPolicies struct {
	typed.MutatingAdmissionPolicyInterface
	stored resource
}

// List implements typed.MutatingAdmissionPolicyInterface.
func (c mutatingPolicies) List(ctx context.Context, options metav1.ListOptions) (*v1.MutatingAdmissionPolicyList, error) {
	list := &v1.MutatingAdmissionPolicyList{}
	return list, c.stored.list(ctx, options, list)
}

// Watch implements typed.MutatingAdmissionPolicyInterface.
func (c mutatingPolicies) Watch(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
	return c.stored.watch(ctx, options)
}

type mutatingBindings struct {
	typed.MutatingAdmissionPolicyBindingInterface
	stored resource
}

// List implements typed.MutatingAdmissionPolicyBindingInterface.
func (c mutatingBindings) List(ctx context.Context, options metav1.ListOptions) (*v1.MutatingAdmissionPolicyBindingList, error) {
	list := &v1.MutatingAdmissionPolicyBindingList{}
	return list, c.stored.list(ctx, options, list)
}

// Watch implements typed.MutatingAdmissionPolicyBindingInterface.
func (c mutatingBindings) Watch(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
	return c.stored.watch(ctx, options)
}
