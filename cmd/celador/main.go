// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Command celador runs a control plane in one process, and kubectl against it, for developers.
package main

import (
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/component-base/version"

	// kubectl and kube-apiserver import these authentication plugins, log formats and metrics.
	_ "k8s.io/client-go/plugin/pkg/client/auth"
	_ "k8s.io/component-base/logs/json/register"
	_ "k8s.io/component-base/metrics/prometheus/clientgo"
	_ "k8s.io/component-base/metrics/prometheus/version"
)

func main() {
	if err := newCommand().Execute(); err != nil {
		fail(err)
	}
}

func newCommand() *cobra.Command {
	// Kubernetes' packages register process-wide flags, which cobra would add to every command.
	pflag.CommandLine = pflag.NewFlagSet("celador", pflag.ContinueOnError)
	release := version.Get().GitVersion
	command := &cobra.Command{
		Use:           "celador",
		Short:         "Run a Kubernetes control plane with Celador's admission policies in one process",
		Version:       release,
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	command.SetVersionTemplate("{{.Version}}\n")
	command.CompletionOptions.DisableDefaultCmd = true
	command.AddCommand(newServeCommand(), newKubectlCommand(), &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  cobra.NoArgs,
		Run:   func(cmd *cobra.Command, _ []string) { fmt.Fprintln(cmd.OutOrStdout(), release) },
	})
	return command
}

// fail prints err in one line and exits with status 1.
func fail(err error) {
	fmt.Fprintln(os.Stderr, "celador: "+oneLine(err.Error()))
	os.Exit(1)
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }
