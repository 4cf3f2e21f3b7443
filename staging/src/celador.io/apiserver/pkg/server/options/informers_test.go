// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package options_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/apiserver/pkg/server/healthz"
	clienttesting "k8s.io/client-go/testing"

	"celador.io/client-go/clientset/fake"
	"celador.io/client-go/informers"

	"celador.io/apiserver/pkg/server/options"
)

func TestReadyOnceInformersSynced(t *testing.T) {
	server := genericapiserver.NewConfig(codecs)
	server.ReadyzChecks = slices.Grow(server.ReadyzChecks, 8)
	front := *server // the aggregator's configuration is a copy, too
	client, mayList := fake.NewClientset(), make(chan struct{})
	client.PrependReactor("list", "*", func(clienttesting.Action) (bool, runtime.Object, error) {
		<-mayList
		return false, nil, nil
	})
	policies := informers.NewSharedInformerFactory(client, 0)
	policies.Admissionregistration().V1().ValidatingAdmissionPolicies().Informer()
	pluginsErr := errors.New("the bindings are not listed")
	if err := options.StartPolicyInformers(server, &front, policies, func() error { return pluginsErr }); err != nil {
		t.Fatal(err)
	}
	server.AddReadyzChecks(healthz.NamedCheck("other", nil)) // must not overwrite the check of the informers
	if _, ok := server.PostStartHooks["start-policy-informers"]; !ok {
		t.Errorf("no hook starts the informers, only %v", server.PostStartHooks)
	}
	i := slices.IndexFunc(front.ReadyzChecks, func(c healthz.HealthChecker) bool { return c.Name() == "policy-informer-sync" })
	if i < 0 {
		t.Fatal("/readyz does not check the informers")
	}

	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(policies.Shutdown)
	t.Cleanup(cancel)
	policies.StartWithContext(ctx)
	if err := front.ReadyzChecks[i].Check(nil); err == nil {
		t.Error("ready before the informers synced")
	}
	close(mayList)
	policies.WaitForCacheSync(ctx.Done())
	if err := front.ReadyzChecks[i].Check(nil); !errors.Is(err, pluginsErr) {
		t.Errorf("got %v while the plugins wait for bindings", err)
	}
	pluginsErr = nil
	if err := front.ReadyzChecks[i].Check(nil); err != nil {
		t.Errorf("not ready although the informers synced: %v", err)
	}
}
