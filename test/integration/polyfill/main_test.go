// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package polyfill runs replicas of celador-webhook beside Kubernetes' kube-apiserver.
package polyfill

import (
	"os"
	"testing"

	"github.com/spf13/cobra"
	"k8s.io/kubernetes/cmd/kube-apiserver/app"

	webhook "celador.io/polyfill/pkg/app"

	"celador.io/celador/test/integration/serverprocess"
)

// The names of the servers.
const (
	kubernetes = "kubernetes"
	replica    = "replica"
)

func TestMain(m *testing.M) {
	os.Exit(serverprocess.Main(m, map[string]func() *cobra.Command{kubernetes: app.NewAPIServerCommand, replica: webhook.NewCommand}))
}
