// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"fmt"

	"k8s.io/client-go/rest"

	"celador.io/client-go/clientset"

	"celador.io/celador/pkg/registry/admissionregistration/localclient"
)

// newPolicyClient returns a client that lists and watches policies and bindings in stores, which
// the server opens before it starts informers.
func newPolicyClient(loopback *rest.Config, stores *localclient.RegistryStores) (clientset.Interface, error) {
	client, err := clientset.NewForConfig(loopback)
	if err != nil {
		return nil, fmt.Errorf("creating the loopback client for admission policies: %w", err)
	}
	return localclient.New(client, stores), nil
}
