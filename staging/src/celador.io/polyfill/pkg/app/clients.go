// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"fmt"

	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"celador.io/client-go/clientset"

	"celador.io/polyfill/pkg/policyapi"
)

// clients are the clients of the cluster, over one connection.
type clients struct {
	config *rest.Config
	core   kubernetes.Interface
	// urgent is the client for the access reviews that webhook calls wait for, and for the election
	// of a leader. It has no rate limit, so that these requests do not wait for others.
	urgent   kubernetes.Interface
	dynamic  dynamic.Interface
	policies clientset.Interface
}

func newClients(o *Options) (*clients, error) {
	config, err := clientcmd.BuildConfigFromFlags("", o.Kubeconfig)
	if err != nil {
		return nil, fmt.Errorf("reading the configuration of the cluster: %w", err)
	}
	config.UserAgent = rest.DefaultKubernetesUserAgent()
	config.QPS, config.Burst = o.QPS, o.Burst
	h, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, err
	}
	c := &clients{config: config}
	unlimited := rest.CopyConfig(config)
	unlimited.QPS = -1
	if c.urgent, err = kubernetes.NewForConfigAndClient(unlimited, h); err != nil {
		return nil, err
	}
	if c.core, err = kubernetes.NewForConfigAndClient(config, h); err != nil {
		return nil, err
	}
	if c.dynamic, err = dynamic.NewForConfigAndClient(config, h); err != nil {
		return nil, err
	}
	if c.policies, err = policyapi.NewForConfigAndClient(config, h); err != nil {
		return nil, err
	}
	return c, nil
}
