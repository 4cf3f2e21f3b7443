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

// StartAPIServer starts a kube-apiserver as Start does, which authorizes by RBAC and authenticates
// itself to aggregated servers, and returns once it is ready.
func StartAPIServer(t testing.TB, command string, flags ...string) *Server {
	t.Helper()
	dir, token := t.TempDir(), rand.Text()
	file := func(name string, content []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	proxyCert, proxyKey := proxyCertificate(t)
	proxyCertFile, key := file("proxy.crt", proxyCert), file("service-account.key", testserver.Must(keyutil.MakeEllipticPrivateKeyPEM())(t))
	s := Start(t, command, token, append([]string{
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
		// Aggregated servers complain without an authority for clients.
		"--client-ca-file=" + proxyCertFile,
		"--requestheader-allowed-names=front-proxy",
		"--requestheader-username-headers=X-Remote-User",
		"--requestheader-group-headers=X-Remote-Group",
		"--requestheader-extra-headers-prefix=X-Remote-Extra-",
	}, flags...)...)
	s.AwaitReady(t)
	return s
}

// proxyCertificate returns a client certificate that is its own authority, and its key.
func proxyCertificate(t testing.TB) (certificate, key []byte) {
	t.Helper()
	signer := testserver.Must(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))(t)
	authority := testserver.Must(certutil.NewSelfSignedCACert(certutil.Config{CommonName: "front-proxy"}, signer))(t)
	return testserver.Must(certutil.EncodeCertificates(authority))(t), testserver.Must(keyutil.MarshalPrivateKeyToPEM(signer))(t)
}
