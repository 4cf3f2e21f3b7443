// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package aggregated

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"k8s.io/client-go/rest"
	certutil "k8s.io/client-go/util/cert"
	"k8s.io/client-go/util/keyutil"

	"celador.io/celador/test/e2e/conformance/process"
	"celador.io/celador/test/integration/testserver"
)

// running is a running server.
type running struct {
	*process.Process
	// admin is the configuration of a client that may do everything.
	admin *rest.Config
	port  int
}

// runServer starts a command with additional flags, and stops it at the end of the test. token is
// what clients with the configuration of the result present.
func runServer(t *testing.T, command, token string, flags ...string) *running {
	t.Helper()
	binary := testserver.Must(os.Executable())(t)
	port, release, err := process.ReservePort()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(release)
	dir := t.TempDir()
	started, err := process.Start(command, binary, dir, filepath.Join(dir, "log"), append([]string{command,
		"--etcd-servers=" + store.URL(),
		"--etcd-prefix=/" + testserver.UniqueName(command),
		"--bind-address=127.0.0.1",
		"--secure-port=" + strconv.Itoa(port), process.SharePort,
		"--cert-dir=" + dir,
	}, flags...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		started.Stop(0)
		if log, err := os.ReadFile(started.Log()); t.Failed() && err == nil {
			t.Logf("the last lines of the log of %s:\n%s", command, log[max(0, len(log)-4<<10):])
		}
	})
	return &running{started, &rest.Config{
		Host:        net.JoinHostPort("127.0.0.1", strconv.Itoa(port)),
		BearerToken: token,
		QPS:         -1,
		// The server signs its certificate itself.
		TLSClientConfig: rest.TLSClientConfig{Insecure: true},
	}, port}
}

// runMain starts a kube-apiserver that authenticates itself to aggregated servers, and returns once
// it is ready.
func runMain(t *testing.T, command string, flags ...string) *running {
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
	s := runServer(t, command, token, append([]string{
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
	s.awaitReady(t)
	return s
}

// awaitReady returns when the server is ready. The test fails if the server exits instead.
func (s *running) awaitReady(t *testing.T) {
	t.Helper()
	clients := testserver.Must(testserver.NewClients(s.admin))(t)
	testserver.Eventually(t, func(ctx context.Context) error {
		if err := s.Ended(); err != nil {
			t.Fatal(err)
		}
		text, err := clients.Core.Discovery().RESTClient().Get().AbsPath("/readyz").Do(ctx).Raw()
		if err != nil {
			return fmt.Errorf("not ready: %w: %s", err, text)
		}
		return nil
	})
}

// proxyCertificate returns a client certificate that is its own authority, and its key.
func proxyCertificate(t *testing.T) (certificate, key []byte) {
	t.Helper()
	signer := testserver.Must(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))(t)
	authority := testserver.Must(certutil.NewSelfSignedCACert(certutil.Config{CommonName: "front-proxy"}, signer))(t)
	return testserver.Must(certutil.EncodeCertificates(authority))(t), testserver.Must(keyutil.MarshalPrivateKeyToPEM(signer))(t)
}
