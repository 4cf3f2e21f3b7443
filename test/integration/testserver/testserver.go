// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package testserver runs Celador's API server inside of a test binary, with an embedded etcd,
// and holds what integration tests share. A binary may run any number of servers, but only one
// at a time. Logs of servers appear when a test fails, or at once if the environment variable
// CELADOR_TEST_LOGS is set.
package testserver

import (
	"context"
	"errors"
	"fmt"
	"os"
	"testing"

	"k8s.io/client-go/rest"

	"celador.io/celador/pkg/localserver"
)

// Main runs all tests of a binary against one server with the given kube-apiserver flags and
// returns the exit code of the binary. Before the tests it calls use with clients that may do
// everything.
func Main(m *testing.M, use func(Clients), args ...string) int {
	dir, err := os.MkdirTemp("", "celador-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	return MainIn(dir, m, use, args...)
}

// MainIn is like Main for a server that keeps its data in dir.
func MainIn(dir string, m *testing.M, use func(Clients), args ...string) (code int) {
	logs := captureLogs()
	defer func() {
		if code != 0 {
			os.Stderr.WriteString(logs.tail())
		}
	}()
	server, err := start(dir, args)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	clients, err := NewClients(client(server))
	if err == nil {
		use(clients)
		code = m.Run()
	}
	if err := errors.Join(err, server.Stop()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}

// A Server is a server that one test starts, and that stops with the test.
type Server struct {
	*localserver.Server
	t *testing.T
}

// Start runs a server with the given kube-apiserver flags that keeps its data in dir. The server
// stops at the end of the test if Stop was not called before.
func Start(t *testing.T, dir string, args ...string) *Server {
	t.Helper()
	logs := captureLogs()
	running, err := start(dir, args)
	if err != nil {
		t.Fatalf("%v\n%s", err, logs.tail())
	}
	server := &Server{running, t}
	t.Cleanup(func() {
		server.Stop()
		if t.Failed() {
			t.Log(logs.tail())
		}
	})
	return server
}

// StartError returns the error of a server that does not start with the given kube-apiserver
// flags. It ends the test if the server starts.
func StartError(t *testing.T, args ...string) string {
	t.Helper()
	captureLogs()
	server, err := start(t.TempDir(), args)
	if err == nil {
		t.Fatal(errors.Join(errors.New("the server starts"), server.Stop()))
	}
	return err.Error()
}

// Admin returns the configuration of a client that may do everything.
func (s *Server) Admin() *rest.Config { return client(s.Server) }

// Stop stops the server. Then another server can start.
func (s *Server) Stop() {
	s.t.Helper()
	if err := s.Server.Stop(); err != nil {
		s.t.Errorf("stopping the server: %v", err)
	}
}

func start(dir string, args []string) (*localserver.Server, error) {
	return localserver.Start(context.Background(), localserver.Options{DataDir: dir, APIServerArgs: args})
}

// client returns the configuration of an administrator without a rate limit, which would only slow
// tests down.
func client(server *localserver.Server) *rest.Config {
	config := server.RESTConfig()
	config.QPS = -1
	return config
}
