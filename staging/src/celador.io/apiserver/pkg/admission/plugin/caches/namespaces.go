// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package caches

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	listers "k8s.io/client-go/listers/core/v1"
)

// NamespaceGetter implements matching.NamespaceGetter with an informer and a client.
type NamespaceGetter struct {
	Lister listers.NamespaceLister
	Client kubernetes.Interface
}

// GetNamespace returns a namespace from the informer. It reads a namespace that is not in the
// informer's cache from the server, because the watch event of a new namespace may be delayed.
func (g *NamespaceGetter) GetNamespace(ctx context.Context, name string) (*corev1.Namespace, error) {
	namespace, err := g.Lister.Get(name)
	if err != nil && apierrors.IsNotFound(err) && name != "" {
		return g.Client.CoreV1().Namespaces().Get(ctx, name, metav1.GetOptions{})
	}
	return namespace, err
}
