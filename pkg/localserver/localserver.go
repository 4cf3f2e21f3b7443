// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package localserver runs a whole control plane in the calling process: Celador's kube-apiserver over an embedded
// etcd, on 127.0.0.1, with TLS, RBAC and credentials of its own. Everything that it keeps is in one directory.
//
// Kubernetes keeps feature gates, metrics and logging in process-wide variables. A process may therefore run any
// number of servers one after the other, but one at a time.
package localserver

import (
	"context"
	"errors"
	"path/filepath"
	"time"

	cliflag "k8s.io/component-base/cli/flag"
)

// startTimeout is many times what a start takes on a slow machine with a large database.
const startTimeout = time.Minute

// Options says how to run a Server.
type Options struct {
	// DataDir is the directory that keeps etcd's data, keys, certificates and the kubeconfig. It is made if it is
	// missing. A server that starts with the directory of an earlier one has its objects and credentials. Required.
	DataDir string
	// SecurePort is the TCP port on 127.0.0.1 to serve on; 0 picks a free one.
	SecurePort int
	// APIServerArgs are flags of the kube-apiserver, such as "--feature-gates=X=true". They override whatever this
	// package sets, but for --etcd-servers, which is refused. Logging flags change the logging of the process.
	APIServerArgs []string
	// Progress, if not nil, is called with one line of text whenever a part of the server is up.
	Progress func(line string)
}

// APIServerFlags returns the flags that Options.APIServerArgs may hold, with the defaults that they have for a server
// that keeps its state in dataDirectory.
func APIServerFlags(dataDirectory string) (cliflag.NamedFlagSets, error) {
	api, err := newAPIServer(dataDir(dataDirectory), 0)
	if err != nil {
		return cliflag.NamedFlagSets{}, err
	}
	return api.flags, nil
}

// Start runs a server and returns once it is ready to serve every request. ctx bounds the start only: when it ends
// before, Start stops what it has started and returns why; a started server runs until Stop. An error says in one line what is wrong and what to do: with the arguments, with the
// directory (not writable, in use by another server, corrupt) or with the port. After an error nothing runs any
// more, but for what a corrupt etcd leaves behind until the process ends.
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
		// Why it ended says more than that it is not ready.
		if ended := s.Stop(); ended != nil {
			err = ended
		}
		return nil, err
	}
	return s, nil
}
