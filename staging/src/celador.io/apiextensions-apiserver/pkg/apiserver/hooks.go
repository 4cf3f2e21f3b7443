// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"context"
	"time"

	"k8s.io/apiextensions-apiserver/pkg/client/informers/externalversions"
	"k8s.io/apimachinery/pkg/util/wait"
	genericapiserver "k8s.io/apiserver/pkg/server"
)

// addHooks adds the post-start hooks, which have upstream's names because health checks list them.
// Until the informer has synced, requests for unknown paths get 503 instead of 404, since they may
// be for custom resources.
func addHooks(generic *genericapiserver.GenericAPIServer, informers externalversions.SharedInformerFactory, controllers *controllers) error {
	synced := make(chan struct{})
	if err := generic.RegisterMuxAndDiscoveryCompleteSignal("CRDInformerHasNotSynced", synced); err != nil {
		return err
	}
	for name, hook := range map[string]genericapiserver.PostStartHookFunc{
		"start-apiextensions-informers": func(ctx genericapiserver.PostStartHookContext) error {
			informers.Start(ctx.Done())
			return nil
		},
		"start-apiextensions-controllers": func(ctx genericapiserver.PostStartHookContext) error {
			controllers.start(ctx)
			return nil
		},
		"crd-informer-synced": func(ctx genericapiserver.PostStartHookContext) error {
			hasSynced := controllers.crds.Informer().HasSynced
			err := wait.PollUntilContextCancel(ctx, 100*time.Millisecond, true, func(context.Context) (bool, error) { return hasSynced(), nil })
			if err == nil {
				close(synced)
			}
			return err
		},
	} {
		if err := generic.AddPostStartHook(name, hook); err != nil {
			return err
		}
	}
	return nil
}
