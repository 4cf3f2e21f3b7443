// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package serverprocess runs servers in processes of their own. Feature gates and logs are
// process-wide, so tests that run several servers need a process for each: the test binary with the
// name of a server as its first argument, or another program, such as a server of another release.
package serverprocess

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/spf13/cobra"
	"k8s.io/component-base/cli"

	"celador.io/celador/test/etcd"
)

var (
	// store is the etcd that all servers share, each with its own key prefix.
	store *etcd.Server
	// commands are the servers in the test binary, by name.
	commands map[string]func() *cobra.Command
)

// Main returns the exit code of a test binary. servers are the commands of the servers that the
// binary contains, by name. If the first argument is such a name, Main runs the command. Otherwise
// it runs the tests, which start the binary again with such an argument to Start a server.
func Main(m *testing.M, servers map[string]func() *cobra.Command) int {
	commands = servers
	if len(os.Args) > 1 && commands[os.Args[1]] != nil {
		command := commands[os.Args[1]]()
		os.Args = os.Args[1:]
		return cli.Run(command)
	}
	dir, err := os.MkdirTemp("", "serverprocess-")
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
	return m.Run()
}
