// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"strconv"

	"k8s.io/client-go/kubernetes"

	"celador.io/celador/test/e2e/conformance/process"
)

// startAPIServer runs binary with upstream's defaults wherever a cluster without network leaves a choice.
func startAPIServer(binary, dir, log, etcdURL string, port int, c credentials) (*process.Process, error) {
	return process.Start("kube-apiserver", binary, dir, log,
		"--etcd-servers="+etcdURL,
		"--bind-address=127.0.0.1",
		"--secure-port="+strconv.Itoa(port),
		"--tls-cert-file="+c.servingCert,
		"--tls-private-key-file="+c.servingKey,
		"--token-auth-file="+c.tokens,
		"--authorization-mode=Node,RBAC",
		"--service-account-issuer=https://kubernetes.default.svc",
		"--service-account-key-file="+c.serviceAccountKey,
		"--service-account-signing-key-file="+c.serviceAccountKey,
		"--service-cluster-ip-range=10.0.0.0/24",
		// A loopback address, the only one there is, cannot be an endpoint of the service "kubernetes".
		"--endpoint-reconciler-type=none",
	)
}

// apiServerReady returns nil when the server says that it is ready.
func apiServerReady(client kubernetes.Interface) func(context.Context) error {
	return func(ctx context.Context) error {
		return client.Discovery().RESTClient().Get().AbsPath("/readyz").Do(ctx).Error()
	}
}
