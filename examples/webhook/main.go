// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"net/http"

	admissionv1 "k8s.io/api/admission/v1"
	policyv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"celador.io/admission/review"
	"celador.io/admission/validating"
	"celador.io/apiserver/pkg/admission/plugin/paramsource"
)

// namespaces reads namespaces from a cache, and from the server those that the cache lacks.
type namespaces struct{ cache, server client.Reader }

func (n namespaces) GetNamespace(ctx context.Context, name string) (*corev1.Namespace, error) {
	namespace, key := &corev1.Namespace{}, client.ObjectKey{Name: name}
	if err := n.cache.Get(ctx, key, namespace); err == nil {
		return namespace, nil
	}
	return namespace, n.server.Get(ctx, key, namespace)
}

// run adds a webhook that decides by the policies of the cluster, and starts the manager.
func run(ctx context.Context, m ctrl.Manager) error {
	params := paramsource.New(discovery.NewDiscoveryClientForConfigOrDie(m.GetConfig()), dynamic.NewForConfigOrDie(m.GetConfig()), 0, nil, ctx.Done())
	engine := validating.NewEngine(validating.Config{Namespaces: namespaces{m.GetCache(), m.GetAPIReader()}, Params: params})
	store := engine.NewStore()
	for _, object := range []client.Object{&policyv1.ValidatingAdmissionPolicy{}, &policyv1.ValidatingAdmissionPolicyBinding{}} {
		informer, err := m.GetCache().GetInformer(ctx, object)
		if err != nil {
			return err
		}
		if err := store.Follow(informer); err != nil {
			return err
		}
	}
	m.GetWebhookServer().Register("/validate", review.Handler(func(ctx context.Context, r *review.Request) *admissionv1.AdmissionResponse {
		return engine.Review(ctx, r, store.Snapshot())
	}))
	if err := m.AddReadyzCheck("policies", func(*http.Request) error { return errors.Join(store.Synced(), params.Synced()) }); err != nil {
		return err
	}
	return m.Start(ctx)
}

func main() {
	m, err := ctrl.NewManager(ctrl.GetConfigOrDie(), ctrl.Options{HealthProbeBindAddress: ":8081"})
	utilruntime.Must(err)
	utilruntime.Must(run(ctrl.SetupSignalHandler(), m))
}
