// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package input makes what is benchmarked: policies, bindings, params and requests.
package input

import (
	"errors"
	"fmt"

	v1 "celador.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"celador.io/celador/test/benchmark/api"
)

// Cluster is everything that plugins read from the API server.
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
		api.Store(server, api.Resource{GroupVersionResource: corev1.SchemeGroupVersion.WithResource("namespaces"), Kind: "Namespace"}, []*corev1.Namespace{Space()}),
		api.Store(server, api.Resource{GroupVersionResource: policies.WithResource("validatingadmissionpolicies"), Kind: "ValidatingAdmissionPolicy"}, c.Policies),
		api.Store(server, api.Resource{GroupVersionResource: policies.WithResource("validatingadmissionpolicybindings"), Kind: "ValidatingAdmissionPolicyBinding"}, c.Bindings),
		api.Store(server, limits, c.Params),
	)
}

// SpaceName is the name of the namespace that requests are for.
const SpaceName = "shop"

// Space returns the namespace that requests are for.
func Space() *corev1.Namespace {
	return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
		Name:   SpaceName,
		Labels: map[string]string{corev1.LabelMetadataName: SpaceName, "environment": "production", "team": "shop"},
	}}
}

// number returns a name that sorts as the number does.
func number(prefix string, i int) string { return fmt.Sprintf("%s-%05d", prefix, i) }
