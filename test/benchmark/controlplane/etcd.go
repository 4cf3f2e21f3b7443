// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"path/filepath"

	"go.etcd.io/etcd/server/v3/embed"
)

// etcd is a store in this process, on a Unix socket.
type etcd struct {
	server *embed.Etcd
	url    string
	socket string
}

// startEtcd returns once a store in dir is ready. It does not wait for the disk: what
// that takes says nothing about the servers.
func startEtcd(ctx context.Context, dir, log string) (*etcd, error) {
	// Sockets' paths must be short, and dir need not be.
	sockets, err := os.MkdirTemp("", "etcd-")
	if err != nil {
		return nil, err
	}
	e := &etcd{socket: filepath.Join(sockets, "s")}
	endpoint := url.URL{Scheme: "unix", Path: e.socket}
	e.url = endpoint.String()

	config := embed.NewConfig()
	config.Dir, config.LogOutputs, config.UnsafeNoFsync = dir, []string{log}, true
	config.ListenClientUrls, config.ListenPeerUrls = []url.URL{endpoint}, nil
	if e.server, err = embed.StartEtcd(config); err != nil {
		e.stop()
		return nil, fmt.Errorf("etcd: %w: see %s", err, log)
	}
	select {
	case <-e.server.Server.ReadyNotify():
		return e, nil
	case err = <-e.server.Err():
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	e.stop()
	return nil, fmt.Errorf("etcd: %w: see %s", err, log)
}

func (e *etcd) stop() {
	if e.server != nil {
		e.server.Close()
	}
	os.RemoveAll(filepath.Dir(e.socket))
}
