// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"context"
	"fmt"
	"os"

	"k8s.io/client-go/tools/cache"
	"k8s.io/component-base/version"
	"k8s.io/klog/v2"
)

// Run serves until ctx ends, and returns nil after a graceful shutdown. It fails if the options are
// invalid, or if the server cannot listen on its port or reach etcd.
func Run(ctx context.Context, opts CompletedOptions) error {
	klog.InfoS("Starting kube-apiserver", "version", version.Get(),
		"GOGC", os.Getenv("GOGC"), "GOMAXPROCS", os.Getenv("GOMAXPROCS"), "GOTRACEBACK", os.Getenv("GOTRACEBACK"))

	if opts.InformerName == nil {
		name, err := cache.NewInformerName("kube-apiserver")
		if err != nil {
			return fmt.Errorf("another kube-apiserver runs in this process; give each an InformerName: %w", err)
		}
		opts.InformerName = name
		defer func() {
			name.Release()
			opts.InformerName = nil
		}()
	}

	config, err := NewConfig(opts)
	if err != nil {
		return err
	}
	completed, err := config.Complete()
	if err != nil {
		return err
	}
	chain, err := CreateServerChain(completed)
	if err != nil {
		return err
	}
	prepared, err := chain.PrepareRun()
	if err != nil {
		return err
	}
	return prepared.Run(ctx)
}
