// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Command conformance-crd runs the integration tests of k8s.io/apiextensions-apiserver against
// Celador's server of custom resources, and prints how many ran, passed, failed and were skipped.
// It exits with a non-zero code unless each test that exceptions.txt does not contain has passed.
// `make conformance-crd` prepares the module with the tests.
package main

import (
	"context"
	_ "embed"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"celador.io/celador/test/e2e/conformance-crd/gotest"
	"celador.io/celador/test/e2e/conformance/specs"
	"celador.io/celador/test/etcd"
)

const (
	// packages matches all packages with integration tests, so that a package that upstream adds
	// runs, too.
	packages = "./test/..."
	// etcdURL is the environment variable from which the tests read the URL of etcd.
	etcdURL = "KUBE_INTEGRATION_ETCD_URL"
)

//go:embed exceptions.txt
var exceptions string

type options struct {
	module, artifacts string

	all      bool
	parallel int
	timeout  time.Duration // of one package
}

func main() {
	var o options
	flag.StringVar(&o.module, "module", "_output/conformance-crd/apiextensions-apiserver", "directory of the module with the tests")
	flag.StringVar(&o.artifacts, "artifacts", "_artifacts/conformance-crd", "directory for logs")
	flag.BoolVar(&o.all, "all", false, "run the exceptions, too")
	flag.IntVar(&o.parallel, "parallel", 4, "how many processes share the tests of a package, which wait most of the time")
	flag.DurationVar(&o.timeout, "timeout", 30*time.Minute, "how long the tests of one package may take")
	flag.Parse()

	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, o); err != nil {
		fmt.Fprintln(os.Stderr, "conformance-crd:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, o options) error {
	artifacts, err := filepath.Abs(o.artifacts)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(artifacts, 0o755); err != nil {
		return err
	}
	suite := gotest.Suite{Module: o.module, Packages: packages, Parallel: o.parallel, Artifacts: artifacts}
	fmt.Printf("building the tests of %s, logs go to %s\n", o.module, artifacts)
	selections, err := suite.Tests(ctx)
	if err != nil {
		return err
	}
	if selections, err = specs.Except(selections, exceptions, o.all); err != nil {
		return err
	}
	summary, started, err := runTests(ctx, suite, selections, o.timeout)
	if err != nil {
		return err
	}
	fmt.Printf("%s%d run, %s\n", summary.Details(), started, summary)
	if !summary.OK() {
		return fmt.Errorf("tests failed: see %s", artifacts)
	}
	return nil
}

// runTests starts an etcd for the servers of the tests, runs the selected tests, and stops the
// etcd. It returns their results and the number of tests that were started.
func runTests(ctx context.Context, suite gotest.Suite, selections []specs.Selection, timeout time.Duration) (all specs.Summary, started int, err error) {
	dir, err := os.MkdirTemp("", "conformance-crd-")
	if err != nil {
		return all, started, err
	}
	defer os.RemoveAll(dir)
	// The etcd needs a TCP port: the tests connect to it with an empty TLS configuration, with
	// which etcd's client would speak TLS to a Unix socket.
	store, err := etcd.StartTCP(ctx, dir, filepath.Join(suite.Artifacts, "etcd.log"))
	if err != nil {
		return all, started, err
	}
	defer store.Stop()
	if err := os.Setenv(etcdURL, store.URL()); err != nil {
		return all, started, err
	}

	reports, errs := make([]specs.Report, len(selections)), make([]error, len(selections))
	var running sync.WaitGroup
	for i, selection := range selections {
		running.Go(func() {
			start := time.Now()
			reports[i], errs[i] = suite.Run(ctx, selection, timeout)
			fmt.Printf("%s: %s (%s)\n", selection.Group, specs.Summarize(selection, reports[i]), time.Since(start).Round(time.Second))
		})
	}
	running.Wait()
	if err := errors.Join(errs...); err != nil {
		return all, started, err
	}
	for i, selection := range selections {
		started += len(reports[i].Specs)
		all = all.Add(specs.Summarize(selection, reports[i]))
	}
	return all, started, nil
}
