// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/component-base/cli"
	"k8s.io/component-base/logs"
	"k8s.io/kubectl/pkg/cmd"
	"k8s.io/kubectl/pkg/cmd/plugin"
	"k8s.io/kubectl/pkg/cmd/util"

	"celador.io/celador/pkg/localserver"
)

func newKubectlCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "kubectl [kubectl arguments]",
		Short: "Run kubectl against the served control plane",
		Long: `Run kubectl. All arguments are kubectl's. Without --kubeconfig and $KUBECONFIG it talks to the server whose data is in
$` + dataDirEnv + ` or ~/.celador.`,
		DisableFlagParsing: true,
		Run:                func(_ *cobra.Command, args []string) { kubectl(args) },
	}
}

// kubectl runs kubectl with args. If kubectl exits, it ends the process with kubectl's exit code.
func kubectl(args []string) {
	argv := append([]string{"kubectl"}, args...)
	// Plugins and kubectl's preferences log before the flags are parsed.
	_, _ = logs.GlogSetter(cmd.GetLogVerbosity(argv))
	streams := genericiooptions.IOStreams{In: os.Stdin, Out: os.Stdout, ErrOut: os.Stderr}
	command := cmd.NewDefaultKubectlCommandWithArgs(cmd.KubectlOptions{
		PluginHandler: cmd.NewDefaultPluginHandler(plugin.ValidPluginFilenamePrefixes),
		Arguments:     argv,
		ConfigFlags:   kubectlConfig(streams),
		IOStreams:     streams,
	})
	command.SetArgs(args)
	if err := cli.RunNoErrOutput(command); err != nil {
		util.CheckErr(err)
	}
}

// kubectlConfig returns kubectl's connection flags. Unless $KUBECONFIG is set, --kubeconfig
// defaults to the kubeconfig of celador serve, and kubectlConfig sets $KUBECONFIG to it for
// kubectl's plugins.
func kubectlConfig(streams genericiooptions.IOStreams) *genericclioptions.ConfigFlags {
	flags := genericclioptions.NewConfigFlags(true).
		WithDeprecatedPasswordFlag().WithDiscoveryBurst(300).WithDiscoveryQPS(50).WithWarningPrinter(streams)
	if os.Getenv(clientcmd.RecommendedConfigPathEnvVar) == "" {
		path := localserver.KubeconfigPath(defaultDataDir())
		*flags.KubeConfig = path
		os.Setenv(clientcmd.RecommendedConfigPathEnvVar, path)
		explainMissing(path, flags.KubeConfig)
	}
	return flags
}

// explainMissing adds a line to kubectl's fatal errors if the kubeconfig at path does not exist and
// kubectl used that path. used points to the value of --kubeconfig.
func explainMissing(path string, used *string) {
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		return
	}
	util.BehaviorOnFatal(func(message string, code int) {
		fmt.Fprintln(os.Stderr, strings.TrimRight(message, "\n"))
		if *used == path {
			fmt.Fprintf(os.Stderr, "celador: no server has run with its data in %s: start one with celador serve, or set %s to the directory of one\n",
				filepath.Dir(path), dataDirEnv)
		}
		os.Exit(code)
	})
}
