// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package controlplane runs a kube-apiserver binary with an etcd in this process.
package controlplane

import (
	"context"
	"crypto/rand"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/keyutil"

	"celador.io/celador/test/e2e/conformance/cluster"
	"celador.io/celador/test/e2e/conformance/process"
	"celador.io/celador/test/etcd"
)

// readyTimeout is the time within which a server must be ready, and grace the time between the
// request to stop and the kill.
const (
	readyTimeout = 2 * time.Minute
	grace        = 20 * time.Second
)

// A Server is a running kube-apiserver.
type Server struct {
	dir, binary, log string
	flags            []string
	etcd             *etcd.Server
	store            *clientv3.Client
	server           *process.Process
	config           *rest.Config
	// release gives the port back.
	release func()
}

// Start starts a kube-apiserver with an empty store and returns once it is ready. Its output is
// written to the file log. The caller must call Stop.
func Start(ctx context.Context, binary, log string) (_ *Server, err error) {
	if binary, err = filepath.Abs(binary); err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "benchmark-")
	if err != nil {
		return nil, err
	}
	s := &Server{dir: dir, binary: binary, log: log}
	defer func() {
		if err != nil {
			s.Stop()
		}
	}()
	if s.etcd, err = etcd.Start(ctx, filepath.Join(dir, "etcd"), log+".etcd"); err != nil {
		return nil, err
	}
	if s.store, err = clientv3.New(clientv3.Config{Endpoints: []string{s.etcd.URL()}}); err != nil {
		return nil, err
	}
	if err = s.configure(); err != nil {
		return nil, err
	}
	if err = s.launch(); err != nil {
		return nil, err
	}
	return s, s.AwaitReady(ctx)
}

// configure writes the files that the server reads, and sets its flags and the configuration of
// clients.
func (s *Server) configure() error {
	key, err := keyutil.MakeEllipticPrivateKeyPEM()
	if err != nil {
		return fmt.Errorf("key for service accounts: %w", err)
	}
	token, keyFile, tokenFile := rand.Text(), filepath.Join(s.dir, "service-account.key"), filepath.Join(s.dir, "tokens.csv")
	if err := os.WriteFile(keyFile, key, 0o600); err != nil {
		return err
	}
	if err := os.WriteFile(tokenFile, []byte(token+",admin,admin,system:masters\n"), 0o600); err != nil {
		return err
	}
	port, release, err := process.ReservePort()
	if err != nil {
		return err
	}
	s.release = release
	s.config = &rest.Config{
		Host:        net.JoinHostPort("127.0.0.1", strconv.Itoa(port)),
		BearerToken: token,
		QPS:         -1,
		// The server generates a self-signed certificate.
		TLSClientConfig: rest.TLSClientConfig{Insecure: true},
	}
	s.flags = append(cluster.APIServerFlags(s.etcd.URL(), port, keyFile, tokenFile), "--cert-dir="+s.dir)
	return nil
}

func (s *Server) launch() (err error) {
	s.server, err = process.Start(filepath.Base(s.binary), s.binary, s.dir, s.log, s.flags...)
	return err
}

// Halt stops the server but keeps its store.
func (s *Server) Halt() { s.server.Stop(grace) }

// Resume starts a halted server with the same store and configuration. It does not wait until the
// server is ready.
func (s *Server) Resume() error { return s.launch() }

// AwaitReady waits until the server is ready. It returns an error if the server or ctx ends first,
// or after two minutes.
func (s *Server) AwaitReady(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, readyTimeout, fmt.Errorf("not ready within %v", readyTimeout))
	defer cancel()
	client, err := discovery.NewDiscoveryClientForConfig(s.config)
	if err != nil {
		return err
	}
	return cluster.Await(ctx, s.server, cluster.APIServerReady(client))
}

// Config returns a client configuration for an administrator, without a rate limit.
func (s *Server) Config() *rest.Config { return rest.CopyConfig(s.config) }

// Stop stops the server and deletes its data.
func (s *Server) Stop() {
	if s.server != nil {
		s.server.Stop(grace)
	}
	if s.store != nil {
		s.store.Close()
	}
	if s.etcd != nil {
		s.etcd.Stop()
	}
	if s.release != nil {
		s.release()
	}
	os.RemoveAll(s.dir)
}
