// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package lifecycle compares API group admissionregistration.k8s.io of Celador's server with that
// of Kubernetes' own server while both emulate the same version.
package lifecycle

import (
	"os"
	"testing"

	"github.com/spf13/cobra"
	"k8s.io/kubernetes/cmd/kube-apiserver/app"

	"celador.io/celador/pkg/controlplane"
	"celador.io/celador/test/integration/serverprocess"
)

// The names of the servers.
const (
	kubernetes = "kubernetes"
	celador    = "celador"
)

func TestMain(m *testing.M) {
	// A server runs for seconds only and spends much of this time on garbage collection.
	os.Setenv("GOGC", "400")
	os.Exit(serverprocess.Main(m, map[string]func() *cobra.Command{kubernetes: app.NewAPIServerCommand, celador: controlplane.NewAPIServerCommand}))
}
