// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package aggregated runs the example of an aggregated API server behind Celador's kube-apiserver
// and behind Kubernetes' own.
package aggregated

import (
	"os"
	"testing"

	"github.com/spf13/cobra"
	"k8s.io/kubernetes/cmd/kube-apiserver/app"

	"celador.io/celador/examples/aggregated-apiserver/server"
	"celador.io/celador/pkg/controlplane"
	"celador.io/celador/test/integration/serverprocess"
)

// The names of the servers.
const (
	kubernetes = "kubernetes"
	celador    = "celador"
	orders     = "orders"
)

func TestMain(m *testing.M) {
	os.Exit(serverprocess.Main(m, map[string]func() *cobra.Command{
		kubernetes: app.NewAPIServerCommand,
		celador:    controlplane.NewAPIServerCommand,
		orders:     server.NewCommand,
	}))
}
