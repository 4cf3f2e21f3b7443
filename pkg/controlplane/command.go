// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/apiserver/pkg/server/flagz"
	"k8s.io/client-go/rest"
	cliflag "k8s.io/component-base/cli/flag"
	"k8s.io/component-base/cli/globalflag"
	basecompatibility "k8s.io/component-base/compatibility"
	"k8s.io/component-base/featuregate"
	"k8s.io/component-base/logs"
	logsapi "k8s.io/component-base/logs/api/v1"
	"k8s.io/component-base/term"
	"k8s.io/component-base/version/verflag"

	"celador.io/apiserver/pkg/features"
)

// NewAPIServerCommand returns command kube-apiserver with upstream's flags and defaults, and
// Celador's flag. The command serves until its context ends or, if its context cannot end, until
// SIGTERM or SIGINT. All commands of a process share their feature gates, and only one of them may
// wait for signals.
func NewAPIServerCommand() *cobra.Command {
	opts := NewOptions()
	cmd := &cobra.Command{
		Use: "kube-apiserver",
		Long: "kube-apiserver serves the Kubernetes API over HTTPS and keeps its objects in etcd.\n" +
			"In this build Celador serves the admission policies and enforces them.",
		Args:         noArguments,
		SilenceUsage: true,
		PersistentPreRunE: func(*cobra.Command, []string) error {
			// Warnings about the server's own loopback requests would fill the log.
			rest.SetDefaultWarningHandler(rest.NoWarnings{})
			return opts.GenericServerRunOptions.ComponentGlobalsRegistry.Set()
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			verflag.PrintAndExitIfRequested()
			ctx := cmd.Context()
			if ctx.Done() == nil {
				ctx = genericapiserver.SetupSignalContext()
			}
			return complete(ctx, cmd, opts)
		},
	}
	addFlags(cmd, opts)
	return cmd
}

// noArguments rejects arguments that are not empty, as upstream does.
func noArguments(cmd *cobra.Command, args []string) error {
	if strings.Join(args, "") != "" {
		return fmt.Errorf("%q does not take any arguments, got %q", cmd.CommandPath(), args)
	}
	return nil
}

// addFlags adds the flags in upstream's sections.
func addFlags(cmd *cobra.Command, opts *Options) {
	sections := opts.Flags()
	global := sections.FlagSet("global")
	verflag.AddFlags(global)
	globalflag.AddGlobalFlags(global, cmd.Name(), logs.SkipLoggingConfigurationFlags())
	for _, section := range sections.FlagSets {
		cmd.Flags().AddFlagSet(section)
	}
	// Kubernetes does not list GA gates, since most of them are locked. Celador's are not.
	cmd.Flag("feature-gates").Usage += "\n" + strings.Join(features.Help(), "\n")
	opts.Flagz = flagz.NamedFlagSetsReader{FlagSets: sections}

	width, _, _ := term.TerminalSize(cmd.OutOrStdout()) // 0, and so no wrapping, if it is not a terminal
	cliflag.SetUsageAndHelpFunc(cmd, sections, width)
}

// complete completes and validates the options that the flags have set, and runs the server.
func complete(ctx context.Context, cmd *cobra.Command, opts *Options) error {
	registry := opts.GenericServerRunOptions.ComponentGlobalsRegistry
	gate := registry.FeatureGateFor(basecompatibility.DefaultKubeComponent)
	if err := logsapi.ValidateAndApply(opts.Logs, gate); err != nil {
		return err
	}
	cliflag.PrintFlags(cmd.Flags())

	completed, err := opts.Complete(ctx)
	if err != nil {
		return err
	}
	if errs := completed.Validate(); len(errs) > 0 {
		return utilerrors.NewAggregate(errs)
	}
	if mutable, ok := gate.(featuregate.MutableFeatureGate); ok {
		mutable.AddMetrics()
	}
	registry.AddMetrics()
	return Run(ctx, completed)
}
