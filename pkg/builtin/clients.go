// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package builtin

import (
	"context"
	"fmt"

	"gopkg.in/go-jose/go-jose.v2/jwt"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/discovery"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	policyv1client "k8s.io/client-go/kubernetes/typed/policy/v1"

	"celador.io/admission/matching"
)

// The clients in this file stand for the requests that registries of kube-apiserver send to the server itself.
// Methods that registries do not call panic.

// namespaceClient reads the namespaces of a cluster.
type namespaceClient struct {
	corev1client.NamespaceInterface
	getter matching.NamespaceGetter
}

func (c namespaceClient) Get(ctx context.Context, name string, _ metav1.GetOptions) (*corev1.Namespace, error) {
	return c.getter.GetNamespace(ctx, name)
}

// noDiscovery finds no resource. The check of access to params then requires access to all
// resources in the group version of the paramKind.
type noDiscovery struct {
	discovery.DiscoveryInterface
}

func (noDiscovery) ServerResourcesForGroupVersion(version string) (*metav1.APIResourceList, error) {
	return nil, fmt.Errorf("no discovery of group version %s", version)
}

// noBudgets has no PodDisruptionBudget, so budgets do not prevent evictions.
type noBudgets struct {
	policyv1client.PodDisruptionBudgetInterface
}

func (b noBudgets) PodDisruptionBudgets(string) policyv1client.PodDisruptionBudgetInterface { return b }

func (noBudgets) List(context.Context, metav1.ListOptions) (*policyv1.PodDisruptionBudgetList, error) {
	return &policyv1.PodDisruptionBudgetList{}, nil
}

// noTokens answers TokenRequests with a token that no server accepts.
type noTokens struct{}

func (noTokens) GenerateToken(context.Context, *jwt.Claims, any) (string, error) {
	return "not-a-token", nil
}
