// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// namespaces looks up the namespaces of the cluster in the context.
type namespaces struct{}

// GetNamespace implements matching.NamespaceGetter. Every namespace exists: one that is not among
// the objects has only the label that all namespaces have.
func (namespaces) GetNamespace(ctx context.Context, name string) (*corev1.Namespace, error) {
	l := layerFrom(ctx)
	if l.cluster == nil {
		return nil, apierrors.NewInternalError(errNoCluster)
	}
	namespace, err := get[*corev1.Namespace](l.cluster, l, corev1.SchemeGroupVersion.WithResource("namespaces"), "", name)
	if !apierrors.IsNotFound(err) {
		return namespace, err
	}
	return &corev1.Namespace{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{corev1.LabelMetadataName: name}},
		Spec:       corev1.NamespaceSpec{Finalizers: []corev1.FinalizerName{corev1.FinalizerKubernetes}},
		Status:     corev1.NamespaceStatus{Phase: corev1.NamespaceActive},
	}, nil
}
