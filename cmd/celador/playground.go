// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strconv"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"celador.io/offline/manifest"
	"celador.io/offline/playground"

	"celador.io/celador/examples"
	"celador.io/celador/pkg/offlinebackend"
)

func newPlaygroundCommand() *cobra.Command {
	var port int
	command := &cobra.Command{
		Use:   "playground [FILE ...]",
		Short: "Serve a page on which to try admission policies, without a server",
		Long: `Serve a page on 127.0.0.1 until Ctrl-C. It shows what an API server with the policies and objects on the page would answer to a request, and
how each expression evaluates. The page begins with the documents of files, or else with an example.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			// Without this, registries would log the addresses that they allocate, and decoders why
			// they refuse an object.
			discardLogs()
			return servePlayground(cmd.OutOrStdout(), port, args)
		},
	}
	command.Flags().IntVar(&port, "port", 10270, "port to serve on, 0 for a free one")
	return command
}

// servePlayground serves the page until a signal.
func servePlayground(out io.Writer, port int, files []string) error {
	if port < 0 || port > 65535 {
		return fmt.Errorf("--port %d is not a port: choose one up to 65535, or 0 for a free one", port)
	}
	ctx, release := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer release()
	listener, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if errors.Is(err, syscall.EADDRINUSE) {
		return fmt.Errorf("port %d of 127.0.0.1 is in use: choose another one with --port, or 0 for a free one", port)
	}
	if err != nil {
		return err
	}
	defer listener.Close()
	handler, err := newPlayground(listener.Addr().String(), files)
	if err != nil {
		return err
	}
	server := &http.Server{
		Handler: handler, ReadHeaderTimeout: 10 * time.Second, ReadTimeout: 30 * time.Second,
		BaseContext: func(net.Listener) context.Context { return ctx }, // a signal ends evaluations
	}
	stopped := make(chan error, 1)
	context.AfterFunc(ctx, func() {
		release() // the next signal ends the process
		limited, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		err := server.Shutdown(limited)
		if errors.Is(err, context.DeadlineExceeded) {
			err = server.Close() // an evaluation does not end
		}
		stopped <- err
	})
	fmt.Fprintf(out, "http://%s/ until Ctrl-C\n", listener.Addr())
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return <-stopped
}

// newPlayground returns the handler of the page. address is the host and port of the listener. The
// page begins with the documents of files, if there are any.
func newPlayground(address string, files []string) (http.Handler, error) {
	all, err := playground.Examples(examples.Files)
	if err != nil {
		return nil, err
	}
	if len(files) > 0 {
		example, err := readExample(files)
		if err != nil {
			return nil, exitError{err, exitUnusable}
		}
		all = append([]playground.Example{*example}, all...)
	}
	return playground.NewHandler(address, all, playground.NewEvaluator(offlinebackend.KubeAPIServer).Evaluate), nil
}

// readExample returns an example with the documents of files and directories.
func readExample(paths []string) (*playground.Example, error) {
	var names []string
	var texts [][]byte
	for _, path := range paths {
		found, err := manifest.Files(path)
		if err != nil {
			return nil, err
		}
		for _, name := range found {
			text, err := manifest.ReadFile(name)
			if err != nil {
				return nil, err
			}
			names, texts = append(names, name), append(texts, text)
		}
	}
	return playground.FromFiles(names, texts)
}
