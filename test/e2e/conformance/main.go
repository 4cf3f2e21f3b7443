// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Command conformance runs the end-to-end specs of Kubernetes that concern this kube-apiserver,
// against the built binary, and prints how many passed, failed and were skipped. It exits with a
// non-zero code if a spec fails that exceptions.txt does not contain. `make conformance` builds all
// binaries that it needs.
package main

import (
	"context"
	_ "embed"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"celador.io/celador/test/e2e/conformance/cluster"
	"celador.io/celador/test/e2e/conformance/specs"
)

// groups holds groups of specs that need an API server and controllers, but no kubelet. Left out
// are the groups that deploy a webhook or an API server in pods: AdmissionWebhook,
// CustomResourceConversionWebhook, CustomResourceFieldSelectors, which converts by a webhook,
// OpenAPIV3 and Aggregator.
var groups = []specs.Group{
	"ValidatingAdmissionPolicy",
	"MutatingAdmissionPolicy",
	"FieldValidation",
	"CustomResourceDefinition",
	"CustomResourceValidationRules",
	"CRDValidationRatcheting",
	"CustomResourcePublishOpenAPI",
	"Discovery",
	"AggregatedDiscovery",
	"ServerSideApply",
}

//go:embed exceptions.txt
var exceptions string

type options struct {
	apiServer, controllerManager, kubectl, suite, artifacts string
	// kubeconfig is the path of the kubeconfig of a running cluster that is tested. If it is empty,
	// a cluster is started.
	kubeconfig string

	all     bool
	timeout time.Duration // of one group
}

func main() {
	var o options
	flag.StringVar(&o.apiServer, "kube-apiserver", "bin/kube-apiserver", "the kube-apiserver to test")
	flag.StringVar(&o.controllerManager, "kube-controller-manager", "bin/kube-controller-manager", "Kubernetes' kube-controller-manager")
	flag.StringVar(&o.kubectl, "kubectl", "bin/kubectl", "Kubernetes' kubectl, which specs run")
	flag.StringVar(&o.suite, "e2e", "bin/e2e.test", "Kubernetes' end-to-end suite")
	flag.StringVar(&o.artifacts, "artifacts", "_artifacts/conformance", "directory for logs and reports")
	flag.StringVar(&o.kubeconfig, "kubeconfig", "", "the kubeconfig of an administrator of a running cluster to test, in place of a cluster of --kube-apiserver and --kube-controller-manager")
	flag.BoolVar(&o.all, "all", false, "run the exceptions, too")
	flag.DurationVar(&o.timeout, "timeout", 4*time.Minute, "how long the specs of one group may take, until one counts as hanging")
	flag.Parse()

	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, o); err != nil {
		fmt.Fprintln(os.Stderr, "conformance:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, o options) error {
	paths := []*string{&o.apiServer, &o.controllerManager, &o.kubectl, &o.suite, &o.artifacts}
	if o.kubeconfig != "" {
		paths = append(paths, &o.kubeconfig)
	}
	for _, path := range paths {
		absolute, err := filepath.Abs(*path)
		if err != nil {
			return err
		}
		*path = absolute
	}
	if err := os.MkdirAll(o.artifacts, 0o755); err != nil {
		return err
	}
	// kubectl takes short names from discovery that it has cached for hours. Without a directory to
	// cache in, a spec finds its CustomResourceDefinition also if an earlier spec has run kubectl;
	// see kubernetes#65517.
	if err := os.Setenv("KUBECACHEDIR", os.DevNull); err != nil {
		return err
	}
	suite := specs.Suite{Binary: o.suite, Kubectl: o.kubectl, Artifacts: o.artifacts}
	names, err := suite.Names(ctx)
	if err != nil {
		return err
	}
	selections, err := specs.Select(names, groups)
	if err != nil {
		return err
	}
	if selections, err = specs.Except(selections, exceptions, o.all); err != nil {
		return err
	}
	summary, err := runSpecs(ctx, suite, selections, o)
	if err != nil {
		return err
	}
	fmt.Printf("%s%d specs: %s\n", summary.Details(), len(summary.Results), summary)
	if !summary.OK() {
		return fmt.Errorf("specs failed: see %s", o.artifacts)
	}
	return nil
}

// runSpecs runs the selections against the cluster of the kubeconfig in o or, if there is none,
// against a cluster that it starts and stops.
func runSpecs(ctx context.Context, suite specs.Suite, selections []specs.Selection, o options) (specs.Summary, error) {
	if o.kubeconfig != "" {
		fmt.Printf("testing the cluster of %s, logs go to %s\n", o.kubeconfig, o.artifacts)
		if err := cluster.Prepare(ctx, o.kubeconfig); err != nil {
			return specs.Summary{}, err
		}
		return runSelections(ctx, suite, selections, o.kubeconfig, o.timeout)
	}
	fmt.Printf("testing %s, logs go to %s\n", o.apiServer, o.artifacts)
	c, err := cluster.Start(ctx, cluster.Options{
		APIServer: o.apiServer, ControllerManager: o.controllerManager, Logs: o.artifacts,
	})
	if err != nil {
		return specs.Summary{}, err
	}
	defer c.Stop()

	ctx, cancel := c.Context(ctx)
	defer cancel()
	return runSelections(ctx, suite, selections, c.Kubeconfig(), o.timeout)
}

// runSelections runs the selections one after the other, each for at most the timeout.
func runSelections(ctx context.Context, suite specs.Suite, selections []specs.Selection, kubeconfig string, timeout time.Duration) (specs.Summary, error) {
	var all specs.Summary
	for _, selection := range selections {
		start := time.Now()
		report, err := suite.Run(ctx, kubeconfig, selection, timeout)
		if err != nil {
			return specs.Summary{}, err
		}
		summary := specs.Summarize(selection, report)
		fmt.Printf("%-30s %s (%s)\n", selection.Group, summary, time.Since(start).Round(time.Second))
		all = all.Add(summary)
	}
	return all, nil
}
