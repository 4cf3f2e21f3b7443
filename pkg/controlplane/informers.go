// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"fmt"
	"slices"

	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/apiserver/pkg/server/healthz"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"celador.io/admission/compact"
	"celador.io/client-go/clientset"
	"celador.io/client-go/informers"

	"celador.io/celador/pkg/registry/admissionregistration/localclient"
)

// newPolicyInformers returns a factory of informers of policies and bindings. The informers read from stores, which the server opens
// before it starts them. With a nil name they have no metrics. They cache compact objects, also if no plugin uses them.
func newPolicyInformers(loopback *rest.Config, stores *localclient.Stores, name *cache.InformerName) (informers.SharedInformerFactory, error) {
	client, err := clientset.NewForConfig(loopback)
	if err != nil {
		return nil, fmt.Errorf("creating the loopback client for admission policies: %w", err)
	}
	return informers.NewSharedInformerFactoryWithOptions(localclient.New(client, stores), 0, informers.WithInformerName(name), informers.WithTransform(compact.New().Transform)), nil
}

// startInformers adds a post-start hook to server that starts the informers. It adds a readiness
// check to front, the server that answers /readyz, that fails until the informers have synced.
func startInformers(server, front *genericapiserver.Config, policies informers.SharedInformerFactory) error {
	front.ReadyzChecks = slices.Clip(front.ReadyzChecks) // the servers of the chain share its array
	front.AddReadyzChecks(healthz.NamedCheck("policy-informer-sync", healthz.NewInformerSyncHealthz(policies).Check))
	return server.AddPostStartHook("start-policy-informers", func(hook genericapiserver.PostStartHookContext) error {
		policies.StartWithContext(hook)
		return nil
	})
}
