// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"celador.io/celador/test/e2e/conformance/process"
	"celador.io/celador/test/etcd"
)

// A Server is a kube-apiserver with an etcd in this process.
type Server struct {
	// Process is the kube-apiserver, which has ended after Halt.
	Process *process.Process

	dir, binary, log string
	flags            []string
	credentials      credentials
	config           *rest.Config
	etcd             *etcd.Server
	// release gives the server's port back, which is reserved so that nobody else gets it while the
	// server is halted.
	release func()
}

// StartServer starts a kube-apiserver with an empty store and returns once it is ready. Its output
// is written to the file log, and the log of etcd to another file, whose name has the suffix .etcd.
// StartServer returns an error if the server or ctx ends first, or after two minutes. The caller
// must call Stop.
func StartServer(ctx context.Context, binary, log string) (_ *Server, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, readyTimeout, fmt.Errorf("kube-apiserver was not ready within %v: see %s", readyTimeout, log))
	defer cancel()
	if binary, err = filepath.Abs(binary); err != nil {
		return nil, err
	}
	s := &Server{binary: binary, log: log, release: func() {}}
	defer func() {
		if err != nil {
			s.Stop()
		}
	}()
	if s.dir, err = os.MkdirTemp("", "kube-apiserver-"); err != nil {
		return nil, err
	}
	port, release, err := process.ReservePort()
	if err != nil {
		return nil, err
	}
	s.release = release
	if s.credentials, err = writeCredentials(s.dir, port); err != nil {
		return nil, err
	}
	if s.config, err = clientcmd.BuildConfigFromFlags("", s.credentials.kubeconfig); err != nil {
		return nil, err
	}
	s.config.QPS = -1
	client, err := kubernetes.NewForConfig(s.config)
	if err != nil {
		return nil, err
	}
	if s.etcd, err = etcd.Start(ctx, filepath.Join(s.dir, "etcd"), log+".etcd"); err != nil {
		return nil, err
	}
	s.flags = serverFlags(s.etcd.URL(), port, s.credentials)
	if err := s.Resume(); err != nil {
		return nil, err
	}
	ctx, cancelRunning := process.Context(ctx, s.Process)
	defer cancelRunning()
	return s, await(ctx, func(ctx context.Context) error {
		return client.Discovery().RESTClient().Get().AbsPath("/readyz").Do(ctx).Error()
	})
}

// serverFlags returns the flags of a kube-apiserver on 127.0.0.1 with Kubernetes' defaults, except
// for flags that need a network.
func serverFlags(etcdURL string, port int, c credentials) []string {
	return []string{
		"--etcd-servers=" + etcdURL,
		"--bind-address=127.0.0.1",
		"--secure-port=" + strconv.Itoa(port), process.SharePort,
		"--tls-cert-file=" + c.servingCert,
		"--tls-private-key-file=" + c.servingKey,
		"--token-auth-file=" + c.tokens,
		"--authorization-mode=Node,RBAC",
		"--service-account-issuer=https://kubernetes.default.svc",
		"--service-account-key-file=" + c.serviceAccountKey,
		"--service-account-signing-key-file=" + c.serviceAccountKey,
		"--service-cluster-ip-range=10.0.0.0/24",
		// The server would publish its address in the endpoints of the service "kubernetes". They
		// must not contain a loopback address, and the server has no other.
		"--endpoint-reconciler-type=none",
	}
}

// Halt stops the server but keeps its store, for Resume.
func (s *Server) Halt() { s.Process.Stop(stopGrace) }

// Resume starts a halted server with the same store and configuration. It does not wait until the
// server is ready.
func (s *Server) Resume() (err error) {
	s.Process, err = process.Start(filepath.Base(s.binary), s.binary, s.dir, s.log, s.flags...)
	return err
}

// Config returns a client configuration for an administrator, without a rate limit.
func (s *Server) Config() *rest.Config { return rest.CopyConfig(s.config) }

// Kubeconfig returns the path of a file with the configuration.
func (s *Server) Kubeconfig() string { return s.credentials.kubeconfig }

// StoreURL returns the URL of the server's etcd.
func (s *Server) StoreURL() string { return s.etcd.URL() }

// Stop stops the server and deletes its data, except for the logs.
func (s *Server) Stop() {
	if s.Process != nil {
		s.Halt()
	}
	if s.etcd != nil {
		s.etcd.Stop()
	}
	s.release()
	os.RemoveAll(s.dir)
}
