// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package etcd runs a temporary etcd in this process, for kube-apiservers in other processes.
package etcd

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"path/filepath"

	"go.etcd.io/etcd/server/v3/embed"
)

// A Server is a running etcd.
type Server struct {
	server *embed.Etcd
	// sockets is the directory of the Unix socket, or empty if etcd listens on TCP.
	sockets string
}

// Start starts an etcd that listens on a Unix socket, with its data in dir and its log in the file
// log, and returns once it is ready. The caller must call Stop. Start returns an error if etcd or
// ctx ends first.
func Start(ctx context.Context, dir, log string) (*Server, error) {
	// The path of a socket has at most about 100 bytes, and dir may be longer.
	sockets, err := os.MkdirTemp("", "etcd-")
	if err != nil {
		return nil, err
	}
	s := &Server{sockets: sockets}
	return s.start(ctx, dir, log, url.URL{Scheme: "unix", Path: filepath.Join(sockets, "s")})
}

// StartTCP does the same as Start, but the etcd listens on a free port of 127.0.0.1. It is for
// clients whose configuration has a TLS section, even an empty one: with it, etcd's client speaks
// TLS to a socket, but still plain text to an http URL.
func StartTCP(ctx context.Context, dir, log string) (*Server, error) {
	return new(Server).start(ctx, dir, log, url.URL{Scheme: "http", Host: "127.0.0.1:0"})
}

func (s *Server) start(ctx context.Context, dir, log string, listen url.URL) (_ *Server, err error) {
	defer func() {
		if err != nil {
			s.Stop()
		}
	}()
	config := embed.NewConfig()
	config.Dir = dir
	config.LogOutputs = []string{log}
	config.ListenClientUrls = []url.URL{listen}
	config.ListenPeerUrls = nil
	// Without fsync, writes are faster. The data need not survive a crash.
	config.UnsafeNoFsync = true
	if s.server, err = embed.StartEtcd(config); err != nil {
		return nil, fmt.Errorf("cannot start etcd: %w: see %s", err, log)
	}
	select {
	case <-s.server.Server.ReadyNotify():
		return s, nil
	case err := <-s.server.Err():
		return nil, fmt.Errorf("etcd failed: %w: see %s", err, log)
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// URL returns the endpoint for --etcd-servers.
func (s *Server) URL() string {
	address := s.server.Clients[0].Addr()
	if address.Network() == "unix" {
		return "unix://" + address.String()
	}
	return "http://" + address.String()
}

// Stop stops the server. It does not delete the data.
func (s *Server) Stop() {
	if s.server != nil {
		s.server.Close()
	}
	if s.sockets != "" {
		os.RemoveAll(s.sockets)
	}
}
