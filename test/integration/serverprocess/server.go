// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package serverprocess

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"k8s.io/client-go/rest"

	"celador.io/celador/test/e2e/conformance/process"
	"celador.io/celador/test/integration/testserver"
)

// A Server is a server that runs in its own process.
type Server struct {
	*process.Process
	// Admin is the configuration of a client that may do everything.
	Admin *rest.Config
	// Port is the TCP port of 127.0.0.1 on which the server listens.
	Port int
	// Prefix is the prefix of the server's keys in etcd.
	Prefix string
}

// EtcdURL returns the URL of the etcd that all servers share.
func EtcdURL() string { return store.URL() }

// Start starts a server with the given flags, and with flags for its port and for storing objects
// in etcd. It stops the server at the end of the test. command is the name of a command of the test
// binary, or the absolute path of another program. Clients with the configuration Admin
// authenticate themselves with token. Start does not wait until the server is ready.
func Start(t testing.TB, command, token string, flags ...string) *Server {
	t.Helper()
	name := filepath.Base(command)
	binary, args := command, []string(nil)
	if !filepath.IsAbs(command) {
		// Given any other argument, the test binary would run its tests, which would start it
		// again, and so on.
		if commands[command] == nil {
			t.Fatalf("%q is neither a command of the test binary nor an absolute path", command)
		}
		binary, args = testserver.Must(os.Executable())(t), []string{command}
	}
	dir := t.TempDir()
	s := &Server{Prefix: "/" + testserver.UniqueName(name)}
	s.Port = ReservePort(t)
	if !slices.ContainsFunc(flags, func(flag string) bool { return strings.HasPrefix(flag, "--etcd-servers=") }) {
		flags = append([]string{"--etcd-servers=" + EtcdURL()}, flags...)
	}
	s.Process = testserver.Must(process.Start(name, binary, dir, filepath.Join(dir, "log"), slices.Concat(args, []string{
		"--etcd-prefix=" + s.Prefix,
		"--bind-address=127.0.0.1",
		"--secure-port=" + strconv.Itoa(s.Port), process.SharePort,
		"--cert-dir=" + dir,
	}, flags)...))(t)
	StopAtEnd(t, s.Process, name)
	s.Admin = &rest.Config{
		Host:        "https://" + net.JoinHostPort("127.0.0.1", strconv.Itoa(s.Port)),
		BearerToken: token,
		QPS:         -1,
		// The server signs its certificate itself.
		TLSClientConfig: rest.TLSClientConfig{Insecure: true},
	}
	return s
}

// ReservePort returns a port at 127.0.0.1 that nobody else takes until the end of the test.
func ReservePort(t testing.TB) int {
	t.Helper()
	port, release, err := process.ReservePort()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(release)
	return port
}

// StopAtEnd stops a process at the end of the test. If the test has failed, it also shows the last
// part of the process's log.
func StopAtEnd(t testing.TB, p *process.Process, name string) {
	t.Cleanup(func() {
		p.Stop(0)
		if log, err := os.ReadFile(p.Log()); t.Failed() && err == nil {
			t.Logf("the last lines of the log of %s:\n%s", name, log[max(0, len(log)-4<<10):])
		}
	})
}

// AwaitReady returns when the server is ready. The test fails if the server exits instead.
func (s *Server) AwaitReady(t testing.TB) {
	t.Helper()
	clients := testserver.Must(testserver.NewClients(s.Admin))(t)
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
