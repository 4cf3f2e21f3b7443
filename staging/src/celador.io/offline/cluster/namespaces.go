// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// namespaces looks up the namespaces of a cluster.
type namespaces struct{ cluster *Cluster }

// GetNamespace implements matching.NamespaceGetter. Each namespace exists. One that is not among the objects has only the
// label that every namespace has.
func (n namespaces) GetNamespace(ctx context.Context, name string) (*corev1.Namespace, error) {
	r, err := n.cluster.resource(corev1.SchemeGroupVersion.WithResource("namespaces"), "")
	if err != nil {
		return nil, err
	}
	if stored := n.cluster.layer(ctx).get(r.key("", name)); stored != nil {
		object, err := r.read(stored)
		if err != nil {
			return nil, err
		}
		return object.(*corev1.Namespace), nil
	}
	return &corev1.Namespace{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{corev1.LabelMetadataName: name}},
		Spec:       corev1.NamespaceSpec{Finalizers: []corev1.FinalizerName{corev1.FinalizerKubernetes}},
		Status:     corev1.NamespaceStatus{Phase: corev1.NamespaceActive},
	}, nil
}
