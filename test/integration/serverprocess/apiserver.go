// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package serverprocess

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"os"
	"path/filepath"
	"testing"

	certutil "k8s.io/client-go/util/cert"
	"k8s.io/client-go/util/keyutil"

	"celador.io/celador/test/integration/testserver"
)

// StartAPIServer starts a kube-apiserver as LaunchAPIServer does, and returns once it is ready.
func StartAPIServer(t testing.TB, command string, flags ...string) *Server {
	t.Helper()
	s := LaunchAPIServer(t, command, flags...)
	s.AwaitReady(t)
	return s
}

// LaunchAPIServer starts a kube-apiserver that authorizes by RBAC, and that has a client
// certificate with which it authenticates itself to aggregated servers. It does not wait until the
// server is ready.
func LaunchAPIServer(t testing.TB, command string, flags ...string) *Server {
	t.Helper()
	dir, token := t.TempDir(), rand.Text()
	file := func(name string, content []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	proxyCert, proxyKey := NewClientCertificate(t)
	proxyCertFile, key := file("proxy.crt", proxyCert), file("service-account.key", testserver.Must(keyutil.MakeEllipticPrivateKeyPEM())(t))
	return Start(t, command, token, append([]string{
		"--token-auth-file=" + file("tokens.csv", []byte(token+",admin,admin,system:masters\n")),
		"--authorization-mode=RBAC",
		"--service-account-issuer=https://kubernetes.default.svc",
		"--service-account-key-file=" + key,
		"--service-account-signing-key-file=" + key,
		"--service-cluster-ip-range=10.0.0.0/24",
		// A loopback address cannot be an endpoint of the service "kubernetes".
		"--endpoint-reconciler-type=none",
		"--proxy-client-cert-file=" + proxyCertFile,
		"--proxy-client-key-file=" + file("proxy.key", proxyKey),
		"--requestheader-client-ca-file=" + proxyCertFile,
		// Without an authority for client certificates, aggregated servers log errors.
		"--client-ca-file=" + proxyCertFile,
		"--requestheader-allowed-names=front-proxy",
		"--requestheader-username-headers=X-Remote-User",
		"--requestheader-group-headers=X-Remote-Group",
		"--requestheader-extra-headers-prefix=X-Remote-Extra-",
	}, flags...)...)
}

// NewClientCertificate returns a self-signed client certificate for the name front-proxy, and its
// key. The certificate is also the authority by which servers verify it.
func NewClientCertificate(t testing.TB) (certificate, key []byte) {
	t.Helper()
	signer := testserver.Must(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))(t)
	authority := testserver.Must(certutil.NewSelfSignedCACert(certutil.Config{CommonName: "front-proxy"}, signer))(t)
	return testserver.Must(certutil.EncodeCertificates(authority))(t), testserver.Must(keyutil.MarshalPrivateKeyToPEM(signer))(t)
}
