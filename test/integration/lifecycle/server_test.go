// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"context"
	"crypto/rand"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/keyutil"

	"celador.io/celador/test/e2e/conformance/process"
	"celador.io/celador/test/integration/testserver"
)

// server is a running kube-apiserver.
type server struct {
	*process.Process
	client rest.Interface
	etcd   *clientv3.Client
	prefix string
}

// start starts a command with additional flags. It does not wait until the server is ready.
func start(t testing.TB, command string, flags []string) *server {
	t.Helper()
	return startAt(t, store.URL(), command, flags)
}

// startAt is like start with the URL by which the server reaches the store.
func startAt(t testing.TB, etcdURL, command string, flags []string) *server {
	t.Helper()
	binary, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	key, err := keyutil.MakeEllipticPrivateKeyPEM()
	if err != nil {
		t.Fatal(err)
	}
	dir, token := t.TempDir(), rand.Text()
	keyFile, tokenFile := filepath.Join(dir, "service-account.key"), filepath.Join(dir, "tokens.csv")
	for file, text := range map[string]string{keyFile: string(key), tokenFile: token + ",admin,admin,system:masters\n"} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	port, release, err := process.ReservePort()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(release)
	prefix := "/" + testserver.UniqueName(command)
	running, err := process.Start(command, binary, dir, filepath.Join(dir, "log"), append([]string{command,
		"--etcd-servers=" + etcdURL,
		"--etcd-prefix=" + prefix,
		"--bind-address=127.0.0.1",
		"--secure-port=" + strconv.Itoa(port), process.SharePort,
		"--cert-dir=" + dir,
		"--token-auth-file=" + tokenFile,
		"--authorization-mode=RBAC",
		"--service-account-issuer=https://kubernetes.default.svc",
		"--service-account-key-file=" + keyFile,
		"--service-account-signing-key-file=" + keyFile,
		"--service-cluster-ip-range=10.0.0.0/24",
		// A loopback address cannot be an endpoint of the service "kubernetes".
		"--endpoint-reconciler-type=none",
	}, flags...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		running.Stop(0)
		if log, err := os.ReadFile(running.Log()); t.Failed() && err == nil {
			t.Logf("the last lines of the log of %s:\n%s", command, log[max(0, len(log)-4<<10):])
		}
	})
	client, err := discovery.NewDiscoveryClientForConfig(&rest.Config{
		Host:        net.JoinHostPort("127.0.0.1", strconv.Itoa(port)),
		BearerToken: token,
		QPS:         -1,
		// The server signs its certificate itself.
		TLSClientConfig: rest.TLSClientConfig{Insecure: true},
		WarningHandler:  rest.NoWarnings{},
	})
	if err != nil {
		t.Fatal(err)
	}
	etcd, err := clientv3.New(clientv3.Config{Endpoints: []string{store.URL()}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { etcd.Close() })
	return &server{running, client.RESTClient(), etcd, prefix}
}

// awaitReady returns when the server is ready. The test fails if the server exits instead.
func (s *server) awaitReady(t testing.TB) {
	t.Helper()
	// Each request runs all health checks, so frequent requests would slow the start down.
	const interval, timeout = 100 * time.Millisecond, 2 * time.Minute
	if err := wait.PollUntilContextTimeout(t.Context(), interval, timeout, true, func(ctx context.Context) (bool, error) {
		return s.client.Get().AbsPath("/readyz").Do(ctx).Error() == nil, s.Ended()
	}); err != nil {
		t.Fatalf("the server is not ready: %v", err)
	}
}

// stored returns the value that the server's first write stored under key, and the number of
// writes.
func (s *server) stored(t *testing.T, key string) (first []byte, writes int64) {
	t.Helper()
	now, err := s.etcd.Get(t.Context(), s.prefix+key)
	if err != nil || len(now.Kvs) != 1 {
		t.Fatalf("%s: got %d values and error %v, want one value", key, len(now.Kvs), err)
	}
	then, err := s.etcd.Get(t.Context(), s.prefix+key, clientv3.WithRev(now.Kvs[0].CreateRevision))
	if err != nil {
		t.Fatal(err)
	}
	return then.Kvs[0].Value, now.Kvs[0].Version
}
