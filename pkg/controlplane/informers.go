// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/apiserver/pkg/server/healthz"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"celador.io/client-go/clientset"
	"celador.io/client-go/informers"
)

// newPolicyInformers returns informers over the server's own loopback connection,
// which speaks protobuf. Like the server's other informers they keep no managed
// fields. A nil name is allowed and leaves them without metrics.
func newPolicyInformers(loopback *rest.Config, name *cache.InformerName) (informers.SharedInformerFactory, error) {
	client, err := clientset.NewForConfig(loopback)
	if err != nil {
		return nil, fmt.Errorf("creating the loopback client for admission policies: %w", err)
	}
	return informers.NewSharedInformerFactoryWithOptions(client, 0,
		informers.WithTransform(dropManagedFields),
		informers.WithInformerName(name),
	), nil
}

func dropManagedFields(obj any) (any, error) {
	if object, err := meta.Accessor(obj); err == nil {
		object.SetManagedFields(nil)
	}
	return obj, nil
}

// startInformers adds a hook to server that starts the informers, and a check to front, the
// server that answers /readyz, that passes once they have synced.
func startInformers(server, front *genericapiserver.Config, policies informers.SharedInformerFactory) error {
	front.ReadyzChecks = slices.Clip(front.ReadyzChecks) // its array belongs to all servers of the chain
	front.AddReadyzChecks(healthz.NamedCheck("policy-informer-sync", healthz.NewInformerSyncHealthz(policies).Check))
	return server.AddPostStartHook("start-policy-informers", func(hook genericapiserver.PostStartHookContext) error {
		policies.StartWithContext(hook)
		return nil
	})
}
