// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package cluster runs a kube-apiserver with an etcd, alone or in the smallest control plane that
// Kubernetes' end-to-end specs accept: with a kube-controller-manager and one node that exists only
// as an object.
package cluster

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"celador.io/celador/test/e2e/conformance/process"
)

// readyTimeout is the time within which a server or the controllers must be ready. stopGrace is the
// time that a process has to stop before it is killed.
const (
	readyTimeout = 2 * time.Minute
	stopGrace    = 20 * time.Second
)

// Options configures a cluster.
type Options struct {
	// APIServer is the path of the kube-apiserver's binary.
	APIServer string
	// ControllerManager is the path of the kube-controller-manager's binary.
	ControllerManager string
	// Logs is an existing directory for one log of each process.
	Logs string
}

// A Cluster is a running cluster.
type Cluster struct {
	server  *Server
	manager *process.Process
}

// Start starts a cluster and returns once it is ready for specs. The caller must call Stop. No
// process runs after an error.
func Start(ctx context.Context, options Options) (*Cluster, error) {
	server, err := StartServer(ctx, options.APIServer, filepath.Join(options.Logs, "kube-apiserver.log"))
	if err != nil {
		return nil, err
	}
	manager, err := startControllerManager(options.ControllerManager, server.dir, filepath.Join(options.Logs, "kube-controller-manager.log"), server.credentials)
	if err != nil {
		server.Stop()
		return nil, err
	}
	c := &Cluster{server, manager}
	ctx, cancel := c.Context(ctx)
	defer cancel()
	if err := Prepare(ctx, c.Kubeconfig()); err != nil {
		c.Stop()
		return nil, err
	}
	return c, nil
}

// Prepare makes a running cluster ready for specs: it adds the node and waits for the controllers.
// Nothing removes the node. The cluster must run no controller that marks nodes without a kubelet
// as not ready.
func Prepare(ctx context.Context, kubeconfig string) error {
	ctx, cancel := context.WithTimeoutCause(ctx, readyTimeout, fmt.Errorf("the controllers were not ready within %s", readyTimeout))
	defer cancel()
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return err
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	if err := addNode(ctx, client); err != nil {
		return err
	}
	return await(ctx, controllersReady(client))
}

// Kubeconfig returns the path of the administrator's kubeconfig.
func (c *Cluster) Kubeconfig() string { return c.server.credentials.kubeconfig }

// Context returns a context that ends when a process of the cluster ends, so that nobody waits for
// a cluster that has failed.
func (c *Cluster) Context(parent context.Context) (context.Context, context.CancelFunc) {
	return process.Context(parent, c.server.Process, c.manager)
}

// Stop stops all processes and deletes their data, except for the logs.
func (c *Cluster) Stop() {
	c.manager.Stop(stopGrace)
	c.server.Stop()
}
