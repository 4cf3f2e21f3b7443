// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/component-base/cli/globalflag"
	"k8s.io/component-base/logs"
	logsapi "k8s.io/component-base/logs/api/v1"
	_ "k8s.io/component-base/logs/json/register" // --logging-format=json
	"k8s.io/component-base/version/verflag"
)

// Commands with logging flags register the gates of logging, as those of Kubernetes do.
func init() { utilruntime.Must(logsapi.AddFeatureGates(utilfeature.DefaultMutableFeatureGate)) }

// NewCommand returns the command celador-webhook, which serves until it gets a signal to end.
func NewCommand() *cobra.Command {
	o, logging := NewOptions(), logs.NewOptions()
	command := &cobra.Command{
		Use:   "celador-webhook",
		Short: "Enforce the policies of the group policy.celador.io on a cluster",
		Long: `Enforce validating and mutating admission policies of the API group policy.celador.io on a cluster of Kubernetes 1.30 or later. The policies have the
specs of the kinds of admissionregistration.k8s.io, and Celador's fields. This process answers the API server as a webhook, and keeps the webhook configurations,
its certificates and the status of the policies.`,
		Args:         cobra.NoArgs,
		SilenceUsage: true,
		RunE: func(command *cobra.Command, _ []string) error {
			verflag.PrintAndExitIfRequested()
			if err := logsapi.ValidateAndApply(logging, utilfeature.DefaultFeatureGate); err != nil {
				return err
			}
			if err := o.Validate(); err != nil {
				return err
			}
			ctx, stop := signal.NotifyContext(command.Context(), syscall.SIGINT, syscall.SIGTERM)
			defer stop()
			return run(ctx, o)
		},
	}
	o.AddFlags(command.Flags())
	logsapi.AddFlags(logging, command.Flags())
	globalflag.AddGlobalFlags(command.Flags(), command.Name(), logs.SkipLoggingConfigurationFlags())
	verflag.AddFlags(command.Flags())
	command.AddCommand(newUninstallCommand())
	return command
}

// newUninstallCommand returns the subcommand that lets API servers stop to call the webhook.
func newUninstallCommand() *cobra.Command {
	o := NewOptions()
	command := &cobra.Command{
		Use:          "uninstall",
		Short:        "Let API servers stop to call the webhook, before it is deleted",
		Args:         cobra.NoArgs,
		SilenceUsage: true,
		RunE:         func(command *cobra.Command, _ []string) error { return uninstall(command.Context(), o) },
	}
	o.addConnectionFlags(command.Flags())
	return command
}
