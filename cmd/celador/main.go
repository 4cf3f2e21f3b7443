// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Command celador runs a control plane in one process, kubectl against it, and test suites of
// admission policies, for developers and policy authors.
package main

import (
	"errors"
	"fmt"
	"os"
	"strings"
	_ "time/tzdata" // time zones of expressions and CronJobs where the machine has none

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/component-base/version"

	// kubectl and kube-apiserver import these authentication plugins, log formats and metrics.
	_ "k8s.io/client-go/plugin/pkg/client/auth"
	_ "k8s.io/component-base/logs/json/register"
	_ "k8s.io/component-base/metrics/prometheus/clientgo"
	_ "k8s.io/component-base/metrics/prometheus/version"

	"celador.io/offline/report"
)

func main() {
	err := newCommand().Execute()
	var exit exitError
	if errors.As(err, &exit) {
		if exit.error != nil {
			fmt.Fprintln(os.Stderr, report.Printable(exit.Error()))
		}
		os.Exit(exit.code)
	}
	if err != nil {
		fail(err)
	}
}

func newCommand() *cobra.Command {
	// Kubernetes' packages register process-wide flags, which cobra would add to every command.
	pflag.CommandLine = pflag.NewFlagSet("celador", pflag.ContinueOnError)
	release := version.Get().GitVersion
	command := &cobra.Command{
		Use:           "celador",
		Short:         "Run a Kubernetes control plane with Celador's admission policies in one process, and test policies",
		Version:       release,
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	command.SetVersionTemplate("{{.Version}}\n")
	command.CompletionOptions.DisableDefaultCmd = true
	command.AddCommand(newServeCommand(), newKubectlCommand(), newTestCommand(), newAuditCommand(), newConvertCommand(), newPlaygroundCommand(), &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  cobra.NoArgs,
		Run:   func(cmd *cobra.Command, _ []string) { fmt.Fprintln(cmd.OutOrStdout(), release) },
	})
	return command
}

// fail prints err in one line and exits with status 1.
func fail(err error) {
	fmt.Fprintln(os.Stderr, message(err))
	os.Exit(1)
}

// message returns err in one line, with the name of the program.
func message(err error) string { return programPrefix + report.Printable(oneLine(err.Error())) }

const programPrefix = "celador: "

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }
