// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"fmt"
	"net/http"
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

// newPolicyClient returns a client that lists and watches policies and bindings in stores, which
// the server opens before it starts informers.
func newPolicyClient(loopback *rest.Config, stores *localclient.Stores) (clientset.Interface, error) {
	client, err := clientset.NewForConfig(loopback)
	if err != nil {
		return nil, fmt.Errorf("creating the loopback client for admission policies: %w", err)
	}
	return localclient.New(client, stores), nil
}

// newPolicyInformers returns a factory of informers of policies and bindings. With a nil name they
// have no metrics. They cache objects that package compact has made smaller.
func newPolicyInformers(client clientset.Interface, name *cache.InformerName) informers.SharedInformerFactory {
	return informers.NewSharedInformerFactoryWithOptions(client, 0, informers.WithInformerName(name), informers.WithTransform(compact.New().Transform))
}

// startInformers adds a post-start hook to server that starts the informers. It adds a readiness
// check to front, the server that answers /readyz, that fails until the informers have synced and
// synced, which asks the admission plugins, returns nil.
func startInformers(server, front *genericapiserver.Config, policies informers.SharedInformerFactory, synced func() error) error {
	front.ReadyzChecks = slices.Clip(front.ReadyzChecks) // the servers of the chain share its array
	informersSynced := healthz.NewInformerSyncHealthz(policies).Check
	front.AddReadyzChecks(healthz.NamedCheck("policy-informer-sync", func(request *http.Request) error {
		if err := informersSynced(request); err != nil {
			return err
		}
		return synced()
	}))
	return server.AddPostStartHook("start-policy-informers", func(hook genericapiserver.PostStartHookContext) error {
		policies.StartWithContext(hook)
		return nil
	})
}
