// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"strconv"

	"k8s.io/client-go/kubernetes"

	"celador.io/celador/test/e2e/conformance/process"
)

// startAPIServer starts binary with Kubernetes' defaults, except for flags that need a network.
func startAPIServer(binary, dir, log, etcdURL string, port int, c credentials) (*process.Process, error) {
	return process.Start("kube-apiserver", binary, dir, log,
		"--etcd-servers="+etcdURL,
		"--bind-address=127.0.0.1",
		"--secure-port="+strconv.Itoa(port), process.SharePort,
		"--tls-cert-file="+c.servingCert,
		"--tls-private-key-file="+c.servingKey,
		"--token-auth-file="+c.tokens,
		"--authorization-mode=Node,RBAC",
		"--service-account-issuer=https://kubernetes.default.svc",
		"--service-account-key-file="+c.serviceAccountKey,
		"--service-account-signing-key-file="+c.serviceAccountKey,
		"--service-cluster-ip-range=10.0.0.0/24",
		// The endpoints of the service "kubernetes" must not contain a loopback address, and there
		// is no other.
		"--endpoint-reconciler-type=none",
	)
}

// apiServerReady returns a check that /readyz succeeds.
func apiServerReady(client kubernetes.Interface) func(context.Context) error {
	return func(ctx context.Context) error {
		return client.Discovery().RESTClient().Get().AbsPath("/readyz").Do(ctx).Error()
	}
}
