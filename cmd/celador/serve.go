// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/client-go/rest"
	cliflag "k8s.io/component-base/cli/flag"
	"k8s.io/component-base/logs"
	"k8s.io/component-base/version"

	"celador.io/celador/pkg/localserver"
)

const serveHelp = `Run etcd and kube-apiserver in this process, on 127.0.0.1, until SIGTERM or Ctrl-C. A second signal ends it at once.

Everything is kept in the data directory: objects, keys, certificates and the admin's kubeconfig. A restart has all of
them again.

Arguments after -- are flags of the kube-apiserver and override those that celador sets; "celador serve -- --help"
shows them.`

type serveOptions struct {
	localserver.Options
	verbosity int
	logs      bool
}

func newServeCommand() *cobra.Command {
	o := serveOptions{}
	command := &cobra.Command{
		Use:   "serve [flags] [-- kube-apiserver flags]",
		Short: "Run etcd and kube-apiserver in this process",
		Long:  serveHelp,
		Example: `  celador serve
  celador serve --data-dir "$(mktemp -d)" --secure-port 0
  celador serve -v 2 -- --feature-gates=ValidatingAdmissionPolicy=false`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.complete(cmd, args); err != nil {
				return err
			}
			if slices.Contains(o.APIServerArgs, "--help") || slices.Contains(o.APIServerArgs, "-h") {
				return printAPIServerFlags(cmd.OutOrStdout(), o.DataDir)
			}
			return serve(cmd.OutOrStdout(), o)
		},
	}
	command.SetFlagErrorFunc(func(_ *cobra.Command, err error) error {
		if unknown := (*pflag.NotExistError)(nil); errors.As(err, &unknown) {
			return fmt.Errorf("%w: flags of the kube-apiserver follow --, as in %s serve -- --feature-gates=AllAlpha=true", err, os.Args[0])
		}
		return err
	})
	flags := command.Flags()
	flags.SortFlags = false
	flags.StringVar(&o.DataDir, "data-dir", defaultDataDir(),
		"directory that keeps everything; the default is $"+dataDirEnv+" or ~/.celador")
	flags.IntVar(&o.SecurePort, "secure-port", 6443, "port to serve on, 0 for a free one")
	flags.IntVarP(&o.verbosity, "v", "v", 0, "show the logs of etcd and kube-apiserver at this verbosity; without it there are none")
	return command
}

// complete validates the flags, and passes the arguments after -- to the kube-apiserver. An
// argument before -- is an error.
func (o *serveOptions) complete(cmd *cobra.Command, args []string) error {
	before, after := args, []string(nil)
	if dash := cmd.ArgsLenAtDash(); dash >= 0 {
		before, after = args[:dash], args[dash:]
	}
	if len(before) > 0 {
		return fmt.Errorf("serve does not take the argument %q: flags of the kube-apiserver follow --", before[0])
	}
	if o.SecurePort < 0 || o.SecurePort > 65535 {
		return fmt.Errorf("--secure-port %d is not a port: choose one up to 65535, or 0 for a free one", o.SecurePort)
	}
	if o.verbosity < 0 {
		return fmt.Errorf("-v %d is not a verbosity: choose 0 or more", o.verbosity)
	}
	o.APIServerArgs = after
	if o.logs = cmd.Flags().Changed("v"); o.logs {
		o.APIServerArgs = slices.Insert(after, 0, "--v="+strconv.Itoa(o.verbosity))
	}
	return nil
}

func printAPIServerFlags(out io.Writer, dataDir string) error {
	flags, err := localserver.APIServerFlags(dataDir)
	if err != nil {
		return err
	}
	cliflag.PrintSections(out, flags, 0)
	return nil
}

// serve runs a server. It returns nil after a signal, or the error of a server that ends by itself.
func serve(out io.Writer, o serveOptions) error {
	// Without this, the server's own clients would log the warnings of its responses.
	rest.SetDefaultWarningHandler(rest.NoWarnings{})
	logs.InitLogs()
	defer logs.FlushLogs()
	if !o.logs {
		discardLogs()
	}
	ctx, release := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer context.AfterFunc(ctx, func() {
		// From here on, a signal ends the process at once.
		release()
		fmt.Fprintln(out, "stopping")
	})()

	begin := time.Now()
	o.Progress = func(line string) { fmt.Fprintf(out, "%5.1fs  %s\n", time.Since(begin).Seconds(), line) }
	fmt.Fprintf(out, "celador %s, data in %s\n", version.Get().GitVersion, o.DataDir)
	server, err := localserver.Start(ctx, o.Options)
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		return nil
	}
	if err != nil {
		return err
	}
	o.Progress("ready")
	fmt.Fprintf(out, "kubeconfig: %s\ntry: %s\n", server.Kubeconfig(), kubectlHint(o.DataDir))

	select {
	case <-server.Done():
	case <-ctx.Done():
	}
	return server.Stop()
}

// kubectlHint returns a command that the user can paste into another terminal to use the server. It
// sets the variable for the data directory unless that is the default, because the other terminal
// may lack the environment of this process.
func kubectlHint(dataDir string) string {
	hint := os.Args[0] + " kubectl get namespaces"
	if absolute, err := filepath.Abs(dataDir); err == nil && dataDir != homeDataDir() {
		hint = dataDirEnv + "=" + absolute + " " + hint
	}
	return hint
}
