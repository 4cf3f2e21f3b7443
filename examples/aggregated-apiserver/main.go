// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Command aggregated-apiserver is an API server with one kind of its own, on which it enforces the
// admission policies of the cluster.
package main

import (
	"os"

	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/component-base/cli"

	"celador.io/celador/examples/aggregated-apiserver/server"
)

func main() {
	command := server.NewCommand()
	command.SetContext(genericapiserver.SetupSignalContext())
	os.Exit(cli.Run(command))
}
