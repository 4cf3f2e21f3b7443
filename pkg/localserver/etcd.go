// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package localserver

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"time"

	"go.etcd.io/etcd/server/v3/embed"
	"go.uber.org/zap"

	_ "celador.io/celador/pkg/localserver/internal/etcdclientlog" // before the client is initialized
)

const (
	// Times in milliseconds. etcd's defaults are for networks; a single member can elect itself
	// much sooner.
	etcdTick     = 20
	etcdElection = 5 * etcdTick

	// closeTimeout is how long a stop waits for etcd to close.
	closeTimeout = 10 * time.Second
)

// An etcdServer is an etcd in this process with one endpoint, a Unix socket.
type etcdServer struct {
	etcd *embed.Etcd
	// failed receives the first error after which etcd cannot continue.
	failed chan error
}

// startEtcd starts etcd with the data in dir and returns once it serves on socket. If the data is
// corrupt, it returns an error, and goroutines that etcd has started remain until the process ends.
func startEtcd(ctx context.Context, dir, socket string) (*etcdServer, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, startTimeout, fmt.Errorf("%v have passed", startTimeout))
	defer cancel()
	if err := errors.Join(discardUninitialized(dir), checkData(dir)); err != nil {
		return nil, unreadable(dir, err)
	}

	server := &etcdServer{failed: make(chan error, 1)}
	config := etcdConfig(dir, socket, newEtcdLogger(server.fail))
	started := make(chan struct{})
	go func() {
		err := guard(func() (err error) {
			server.etcd, err = embed.StartEtcd(config)
			return err
		})
		if err != nil {
			server.fail(err)
			return
		}
		close(started)
	}()

	select {
	case <-started:
	case err := <-server.failed:
		return nil, unreadable(dir, err)
	}
	select {
	case <-server.etcd.Server.ReadyNotify():
		return server, nil
	case err := <-server.failed:
		return nil, unreadable(dir, err)
	case err := <-server.etcd.Err():
		return nil, errors.Join(fmt.Errorf("etcd: %w", err), server.close())
	case <-ctx.Done():
		return nil, errors.Join(fmt.Errorf("etcd did not become ready with its data in %s, %w", dir, context.Cause(ctx)), server.close())
	}
}

func etcdConfig(dir, socket string, logger *zap.Logger) *embed.Config {
	config := embed.NewConfig()
	config.Dir = dir
	config.ZapLoggerBuilder = embed.NewZapLoggerBuilder(logger)
	config.ListenClientUrls = []url.URL{{Scheme: "unix", Path: socket}}
	config.ListenPeerUrls = nil
	config.TickMs, config.ElectionMs = etcdTick, etcdElection
	return config
}

func unreadable(dir string, err error) error {
	return fmt.Errorf("etcd cannot use its data in %s: %w: restore it from a copy, or delete it to start empty", dir, err)
}

// fail sends err to failed unless an earlier error was sent.
func (s *etcdServer) fail(err error) {
	select {
	case s.failed <- err:
	default:
	}
}

func (s *etcdServer) close() error {
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		s.etcd.Close()
	}()
	select {
	case <-closed:
		return nil
	case err := <-s.failed:
		return fmt.Errorf("etcd could not close: %w", err)
	case <-time.After(closeTimeout):
		return fmt.Errorf("etcd did not close within %v", closeTimeout)
	}
}
