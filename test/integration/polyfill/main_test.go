// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package polyfill runs replicas of celador-webhook beside Kubernetes' kube-apiserver, by default
// that of the release in go.mod.
package polyfill

import (
	"flag"
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

var apiServer = flag.String("kube-apiserver", kubernetes, "absolute path of the kube-apiserver to run, such as that of another release")

func TestMain(m *testing.M) {
	os.Exit(serverprocess.Main(m, map[string]func() *cobra.Command{kubernetes: app.NewAPIServerCommand, replica: webhook.NewCommand}))
}
