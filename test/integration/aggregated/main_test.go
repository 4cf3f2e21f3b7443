// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package aggregated runs the example of an aggregated API server behind Celador's kube-apiserver
// and behind Kubernetes' own.
package aggregated

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/spf13/cobra"
	"k8s.io/component-base/cli"
	"k8s.io/kubernetes/cmd/kube-apiserver/app"

	"celador.io/celador/examples/aggregated-apiserver/server"
	"celador.io/celador/pkg/controlplane"
	"celador.io/celador/test/etcd"
)

// The names of the servers, which are the keys of commands.
const (
	kubernetes = "kubernetes"
	celador    = "celador"
	orders     = "orders"
)

// commands maps names to the commands of servers. Feature gates and logs are process-wide, so each
// server needs its own process: this test binary with the name as its first argument.
var commands = map[string]func() *cobra.Command{
	kubernetes: app.NewAPIServerCommand,
	celador:    controlplane.NewAPIServerCommand,
	orders:     server.NewCommand,
}

// store is the etcd that all servers share, each with its own key prefix.
var store *etcd.Server

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && commands[os.Args[1]] != nil {
		command := commands[os.Args[1]]()
		command.SetContext(context.Background())
		os.Args = os.Args[1:]
		os.Exit(cli.Run(command))
	}
	os.Exit(withStore(m.Run))
}

// withStore runs etcd while run runs, and returns the exit code of run.
func withStore(run func() int) int {
	dir, err := os.MkdirTemp("", "aggregated-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	if store, err = etcd.Start(context.Background(), filepath.Join(dir, "data"), filepath.Join(dir, "log")); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer store.Stop()
	return run()
}
