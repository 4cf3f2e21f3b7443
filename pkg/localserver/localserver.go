// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package localserver runs a control plane in the calling process: Celador's kube-apiserver and an
// embedded etcd, on 127.0.0.1, with TLS, RBAC and its own credentials. It keeps all state in one
// directory.
//
// Kubernetes keeps feature gates, metrics and logging in process-wide variables. A process can
// therefore run several servers one after another, but only one at a time.
package localserver

import (
	"context"
	"errors"
	"path/filepath"
	"time"

	cliflag "k8s.io/component-base/cli/flag"
)

// startTimeout is several times the duration of a start on a slow machine with a large database.
const startTimeout = time.Minute

// Options configures a Server.
type Options struct {
	// DataDir is the directory for etcd's data, keys, certificates and the kubeconfig. Start
	// creates it if it is missing. A server that starts with the directory of an earlier server has
	// the same objects and credentials. Required.
	DataDir string
	// SecurePort is the TCP port to serve on at 127.0.0.1; 0 picks a free port.
	SecurePort int
	// APIServerArgs holds flags of the kube-apiserver, such as "--feature-gates=X=true". They
	// override the flags that this package sets, except for --etcd-servers, which is rejected.
	// Logging flags change the logging of the process.
	APIServerArgs []string
	// Progress, if not nil, is called with one line of text when etcd and when the kube-apiserver
	// has started.
	Progress func(line string)
}

// APIServerFlags returns the flags that Options.APIServerArgs may contain. Their defaults are those
// of a server with the given data directory.
func APIServerFlags(dataDirectory string) (cliflag.NamedFlagSets, error) {
	api, err := newAPIServer(dataDir(dataDirectory), 0)
	if err != nil {
		return cliflag.NamedFlagSets{}, err
	}
	return api.flags, nil
}

// Start runs a server and returns once it is ready to serve all requests. ctx applies to the start
// only: if it ends first, Start stops the parts that it has started and returns the cause. A
// started server runs until Stop.
//
// The text of an error is one line that names the problem and a remedy: an invalid argument, a port
// in use, or a data directory that is not writable, in use by another server, or corrupt. After an
// error no part of the server runs, except for goroutines of an etcd with corrupt data, which
// remain until the process ends.
func Start(ctx context.Context, o Options) (*Server, error) {
	if o.DataDir == "" {
		return nil, errors.New("no data directory given")
	}
	path, err := filepath.Abs(o.DataDir)
	if err != nil {
		return nil, err
	}
	progress := o.Progress
	if progress == nil {
		progress = func(string) {}
	}
	api, err := newAPIServer(dataDir(path), o.SecurePort)
	if err != nil {
		return nil, err
	}
	if err := api.parse(o.APIServerArgs); err != nil {
		return nil, err
	}

	s := &Server{dir: dataDir(path), stop: make(chan struct{}), done: make(chan struct{})}
	if err := s.launch(ctx, api, progress); err != nil {
		return nil, errors.Join(err, s.cleanup())
	}
	err = s.awaitReady(progress)
	if err == nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		// If a part of the server has ended, its error says more than the failed readiness check.
		if ended := s.Stop(); ended != nil {
			err = ended
		}
		return nil, err
	}
	return s, nil
}
