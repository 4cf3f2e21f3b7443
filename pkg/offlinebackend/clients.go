// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package offlinebackend

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"gopkg.in/go-jose/go-jose.v2/jwt"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/authentication/authenticator"
	"k8s.io/client-go/discovery"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	policyv1client "k8s.io/client-go/kubernetes/typed/policy/v1"

	"celador.io/admission/matching"
)

// Registries of kube-apiserver send requests to the server itself. The clients in this file answer
// them. Methods that registries do not call panic.

// namespaceClient reads the namespaces of a cluster.
type namespaceClient struct {
	corev1client.NamespaceInterface
	getter matching.NamespaceGetter
}

func (c namespaceClient) Get(ctx context.Context, name string, _ metav1.GetOptions) (*corev1.Namespace, error) {
	return c.getter.GetNamespace(ctx, name)
}

// noDiscovery is a discovery client that finds no resource. The check whether a user may read the
// params of a policy then does not know the resource of the paramKind, and requires access to all
// resources of its group version.
type noDiscovery struct {
	discovery.DiscoveryInterface
}

func (noDiscovery) ServerResourcesForGroupVersion(version string) (*metav1.APIResourceList, error) {
	return nil, fmt.Errorf("no discovery of group version %s", version)
}

// noBudgets is a client that finds no PodDisruptionBudgets, so none prevents an eviction.
type noBudgets struct {
	policyv1client.PodDisruptionBudgetInterface
}

func (b noBudgets) PodDisruptionBudgets(string) policyv1client.PodDisruptionBudgetInterface { return b }

func (noBudgets) List(context.Context, metav1.ListOptions) (*policyv1.PodDisruptionBudgetList, error) {
	return &policyv1.PodDisruptionBudgetList{}, nil
}

// noTokens answers TokenRequests with a token that no server accepts, and accepts no token in
// TokenReviews.
type noTokens struct{}

var errInvalidToken = errors.New("invalid bearer token")

// AuthenticateRequest implements authenticator.Request. It always returns the error of a server
// about a token that it does not know.
func (noTokens) AuthenticateRequest(*http.Request) (*authenticator.Response, bool, error) {
	return nil, false, errInvalidToken
}

func (noTokens) GenerateToken(context.Context, *jwt.Claims, any) (string, error) {
	return "not-a-token", nil
}

// noWebhooks is a client that finds no webhook configuration. The registry of service accounts
// needs the client, because a TokenRequest can bind its token to a webhook configuration.
type noWebhooks[T any] struct{}

// Get always returns an error.
func (noWebhooks[T]) Get(_ context.Context, name string, _ metav1.GetOptions) (*T, error) {
	return nil, apierrors.NewNotFound(admissionregistrationv1.Resource("webhookconfigurations"), name)
}
