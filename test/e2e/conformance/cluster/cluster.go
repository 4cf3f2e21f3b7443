// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package cluster runs the smallest control plane that Kubernetes' end-to-end specs accept: etcd, a
// kube-apiserver, a kube-controller-manager and one node that exists only as an object.
package cluster

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"celador.io/celador/test/e2e/conformance/process"
	"celador.io/celador/test/etcd"
)

// readyTimeout is the time within which the cluster must be ready, and stopGrace the time between
// the request to stop a process and the kill.
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

// A Cluster is a running cluster. Its methods are safe for concurrent use; Stop must be called
// once.
type Cluster struct {
	dir         string
	credentials credentials
	etcd        *etcd.Server
	processes   []*process.Process
	failed      chan error
	// release gives the port of the server back.
	release func()
}

// Start starts a cluster and returns once it is ready for specs. The caller must call Stop. An
// error names the process that did not become ready and its log; no process runs then.
func Start(ctx context.Context, options Options) (_ *Cluster, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, readyTimeout, fmt.Errorf("the cluster was not ready within %s", readyTimeout))
	defer cancel()
	c := &Cluster{failed: make(chan error, 2)}
	defer func() {
		if err != nil {
			c.Stop()
		}
	}()

	if c.dir, err = os.MkdirTemp("", "conformance-"); err != nil {
		return nil, err
	}
	port, release, err := process.ReservePort()
	if err != nil {
		return nil, err
	}
	c.release = release
	if c.credentials, err = writeCredentials(c.dir, port); err != nil {
		return nil, err
	}
	client, err := newClient(c.credentials.kubeconfig)
	if err != nil {
		return nil, err
	}

	log := func(name string) string { return filepath.Join(options.Logs, name+".log") }
	if c.etcd, err = etcd.Start(ctx, filepath.Join(c.dir, "etcd"), log("etcd")); err != nil {
		return nil, err
	}
	server, err := startAPIServer(options.APIServer, c.dir, log("kube-apiserver"), c.etcd.URL(), port, c.credentials)
	if err != nil {
		return nil, err
	}
	c.watch(server)
	if err := Await(ctx, server, APIServerReady(client.Discovery())); err != nil {
		return nil, err
	}
	manager, err := startControllerManager(options.ControllerManager, c.dir, log("kube-controller-manager"), c.credentials)
	if err != nil {
		return nil, err
	}
	c.watch(manager)
	if err := addNode(ctx, client); err != nil {
		return nil, err
	}
	if err := Await(ctx, manager, controllersReady(client)); err != nil {
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
	client, err := newClient(kubeconfig)
	if err != nil {
		return err
	}
	if err := addNode(ctx, client); err != nil {
		return err
	}
	check := controllersReady(client)
	var last error
	err = wait.PollUntilContextCancel(ctx, pollInterval, true, func(ctx context.Context) (bool, error) {
		last = check(ctx)
		return last == nil, nil
	})
	if err != nil {
		return fmt.Errorf("%w: the last check said: %w", context.Cause(ctx), last)
	}
	return nil
}

func newClient(kubeconfig string) (kubernetes.Interface, error) {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return nil, err
	}
	return kubernetes.NewForConfig(config)
}

// watch makes the cluster fail when p ends.
func (c *Cluster) watch(p *process.Process) {
	c.processes = append(c.processes, p)
	go func() {
		<-p.Done()
		c.failed <- p.Ended()
	}()
}

// Kubeconfig returns the path of the administrator's kubeconfig.
func (c *Cluster) Kubeconfig() string { return c.credentials.kubeconfig }

// Failed returns a channel that receives an error when a process of the cluster ends, including by
// Stop.
func (c *Cluster) Failed() <-chan error { return c.failed }

// Stop stops all processes in reverse order of their start and deletes their data, except for the
// logs.
func (c *Cluster) Stop() {
	for i := len(c.processes) - 1; i >= 0; i-- {
		c.processes[i].Stop(stopGrace)
	}
	if c.etcd != nil {
		c.etcd.Stop()
	}
	if c.release != nil {
		c.release()
	}
	if c.dir != "" {
		os.RemoveAll(c.dir)
	}
}
