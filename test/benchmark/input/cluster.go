// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package input generates the policies, bindings, params, webhooks and requests of benchmarks.
package input

import (
	"errors"
	"fmt"

	v1 "celador.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"celador.io/celador/test/benchmark/api"
)

// A Cluster holds the objects that plugins for ValidatingAdmissionPolicy read from the API server.
type Cluster struct {
	Policies []*v1.ValidatingAdmissionPolicy
	Bindings []*v1.ValidatingAdmissionPolicyBinding
	Params   []*unstructured.Unstructured
}

// Add adds a policy with its bindings.
func (c *Cluster) Add(policy *v1.ValidatingAdmissionPolicy, bindings ...*v1.ValidatingAdmissionPolicyBinding) {
	c.Policies = append(c.Policies, policy)
	c.Bindings = append(c.Bindings, bindings...)
}

// Server returns an API server with the cluster's objects and the namespace of all
// requests.
func (c *Cluster) Server() (*api.Server, error) {
	server := api.New()
	policies := v1.SchemeGroupVersion
	return server, errors.Join(
		storeNamespace(server),
		api.Store(server, policies.WithKind("ValidatingAdmissionPolicy"), meta.RESTScopeRoot, c.Policies),
		api.Store(server, policies.WithKind("ValidatingAdmissionPolicyBinding"), meta.RESTScopeRoot, c.Bindings),
		api.Store(server, limit, meta.RESTScopeNamespace, c.Params),
	)
}

// storeNamespace lets a fake API server serve the namespace of all requests.
func storeNamespace(server *api.Server) error {
	return api.Store(server, corev1.SchemeGroupVersion.WithKind("Namespace"), meta.RESTScopeRoot, []*corev1.Namespace{Namespace()})
}

// NamespaceName is the namespace of all requests that benchmarks send to plugins. Bindings do not
// match OtherNamespaceName, so no policy matches a request in it.
const (
	NamespaceName      = "shop"
	OtherNamespaceName = "park"
)

// OtherNamespace returns the namespace that bindings do not match.
func OtherNamespace() *corev1.Namespace {
	return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
		Name:   OtherNamespaceName,
		Labels: map[string]string{corev1.LabelMetadataName: OtherNamespaceName, "environment": "test", "team": "shop"},
	}}
}

// Namespace returns the namespace that bindings match.
func Namespace() *corev1.Namespace {
	return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
		Name:   NamespaceName,
		Labels: map[string]string{corev1.LabelMetadataName: NamespaceName, "environment": "production", "team": "shop"},
	}}
}

// number returns a name with the number i. In the order of names, such names are in the order of
// their numbers.
func number(prefix string, i int) string { return fmt.Sprintf("%s-%05d", prefix, i) }
