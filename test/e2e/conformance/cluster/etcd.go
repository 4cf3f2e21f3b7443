// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"path/filepath"

	"go.etcd.io/etcd/server/v3/embed"
)

// etcd is an etcd in this process. Its only endpoint is a Unix socket, which no other server can have taken.
type etcd struct {
	server *embed.Etcd
	url    string
}

// startEtcd returns once etcd serves an empty store in dir, its messages going to the file log.
func startEtcd(ctx context.Context, dir, log string) (*etcd, error) {
	// A socket's path may have only about 100 bytes, and dir may be deeper than that.
	sockets, err := os.MkdirTemp("", "etcd-")
	if err != nil {
		return nil, err
	}
	endpoint := url.URL{Scheme: "unix", Path: filepath.Join(sockets, "s")}

	config := embed.NewConfig()
	config.Dir = dir
	config.LogOutputs = []string{log}
	config.ListenClientUrls = []url.URL{endpoint}
	config.ListenPeerUrls = nil
	// What is stored need not survive.
	config.UnsafeNoFsync = true
	server, err := embed.StartEtcd(config)
	if err != nil {
		os.RemoveAll(sockets)
		return nil, fmt.Errorf("cannot start etcd: %w: see %s", err, log)
	}
	e := &etcd{server: server, url: endpoint.String()}
	select {
	case <-server.Server.ReadyNotify():
		return e, nil
	case err := <-server.Err():
		e.stop()
		return nil, fmt.Errorf("etcd failed: %w: see %s", err, log)
	case <-ctx.Done():
		e.stop()
		return nil, context.Cause(ctx)
	}
}

func (e *etcd) stop() {
	e.server.Close()
	os.RemoveAll(filepath.Dir(e.url[len("unix://"):]))
}
