// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Command kube-apiserver is a drop-in replacement for Kubernetes' kube-apiserver, with the same
// flags and defaults and Celador's admission plugins.
package main

import (
	"os"
	_ "time/tzdata" // time zones of expressions and CronJobs where the machine has none

	"k8s.io/component-base/cli"
	_ "k8s.io/component-base/logs/json/register"          // --logging-format=json
	_ "k8s.io/component-base/metrics/prometheus/clientgo" // metrics of clients
	_ "k8s.io/component-base/metrics/prometheus/version"  // metric kubernetes_build_info

	"celador.io/celador/pkg/controlplane"
)

func main() {
	os.Exit(cli.Run(controlplane.NewAPIServerCommand()))
}
