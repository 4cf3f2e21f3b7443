// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"strconv"

	"k8s.io/client-go/discovery"

	"celador.io/celador/test/e2e/conformance/process"
)

// APIServerFlags returns the flags of a kube-apiserver on 127.0.0.1 with Kubernetes' defaults,
// except for flags that need a network. serviceAccountKey and tokens are paths of files.
func APIServerFlags(etcdURL string, port int, serviceAccountKey, tokens string) []string {
	return []string{
		"--etcd-servers=" + etcdURL,
		"--bind-address=127.0.0.1",
		"--secure-port=" + strconv.Itoa(port), process.SharePort,
		"--token-auth-file=" + tokens,
		"--authorization-mode=Node,RBAC",
		"--service-account-issuer=https://kubernetes.default.svc",
		"--service-account-key-file=" + serviceAccountKey,
		"--service-account-signing-key-file=" + serviceAccountKey,
		"--service-cluster-ip-range=10.0.0.0/24",
		// The endpoints of the service "kubernetes" must not contain a loopback address, and there
		// is no other.
		"--endpoint-reconciler-type=none",
	}
}

func startAPIServer(binary, dir, log, etcdURL string, port int, c credentials) (*process.Process, error) {
	flags := append(APIServerFlags(etcdURL, port, c.serviceAccountKey, c.tokens), "--tls-cert-file="+c.servingCert, "--tls-private-key-file="+c.servingKey)
	return process.Start("kube-apiserver", binary, dir, log, flags...)
}

// APIServerReady returns a check that /readyz succeeds.
func APIServerReady(client discovery.DiscoveryInterface) func(context.Context) error {
	return func(ctx context.Context) error {
		return client.RESTClient().Get().AbsPath("/readyz").Do(ctx).Error()
	}
}
