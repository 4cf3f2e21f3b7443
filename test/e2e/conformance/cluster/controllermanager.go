// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"errors"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"celador.io/celador/test/e2e/conformance/process"
)

// startControllerManager starts binary with the default controllers, one of which checks the types
// of policies. The node lifecycle controller is off, because it would mark the node, which has no
// kubelet, as not ready.
func startControllerManager(binary, dir, log string, c credentials) (*process.Process, error) {
	return process.Start("kube-controller-manager", binary, dir, log,
		"--kubeconfig="+c.kubeconfig,
		"--secure-port=0",
		"--leader-elect=false",
		"--controllers=*,-node-lifecycle-controller",
		"--service-account-private-key-file="+c.serviceAccountKey,
		"--root-ca-file="+c.servingCert,
	)
}

// controllersReady returns a check that the controllers work: the namespace default has the objects
// that they create in every namespace.
func controllersReady(client kubernetes.Interface) func(context.Context) error {
	return func(ctx context.Context) error {
		_, accountErr := client.CoreV1().ServiceAccounts(corev1.NamespaceDefault).Get(ctx, "default", metav1.GetOptions{})
		_, caErr := client.CoreV1().ConfigMaps(corev1.NamespaceDefault).Get(ctx, "kube-root-ca.crt", metav1.GetOptions{})
		return errors.Join(accountErr, caErr)
	}
}
