// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package controlplane runs a kube-apiserver binary, writes to its store and measures its process.
package controlplane

import (
	"context"

	clientv3 "go.etcd.io/etcd/client/v3"

	"celador.io/celador/test/e2e/conformance/cluster"
)

// A Server is a running kube-apiserver with direct access to its etcd.
type Server struct {
	*cluster.Server
	store *clientv3.Client
}

// Start starts a kube-apiserver as cluster.StartServer does, and connects to its etcd.
func Start(ctx context.Context, binary, log string) (*Server, error) {
	server, err := cluster.StartServer(ctx, binary, log)
	if err != nil {
		return nil, err
	}
	store, err := clientv3.New(clientv3.Config{Endpoints: []string{server.StoreURL()}})
	if err != nil {
		server.Stop()
		return nil, err
	}
	return &Server{server, store}, nil
}

// Stop stops the server and deletes its data.
func (s *Server) Stop() {
	s.store.Close()
	s.Server.Stop()
}
