// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package admission_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apiserver/pkg/admission"

	"celador.io/admission/typecheck"
	"celador.io/client-go/clientset"
	"celador.io/client-go/clientset/fake"
	"celador.io/client-go/informers"

	kubeadmission "celador.io/celador/pkg/kubeapiserver/admission"
)

var errPolicies, errParams = errors.New("policies are not synced"), errors.New("params are not synced")

type watcher struct {
	*admission.Handler
	client    clientset.Interface
	got       informers.SharedInformerFactory
	installed <-chan struct{}
	freshness kubeadmission.Freshness
	policies  error
	params    error
}

func (w *watcher) SetPolicyInformers(client clientset.Interface, factory informers.SharedInformerFactory) {
	w.client, w.got = client, factory
}

func (w *watcher) SetInstalledPaths(installed <-chan struct{}) { w.installed = installed }

func (w *watcher) SetFreshness(freshness kubeadmission.Freshness) { w.freshness = freshness }

func (w *watcher) PoliciesSynced() error { return w.policies }

func (w *watcher) ParamsSynced() error { return w.params }

func TestInitializer(t *testing.T) {
	client := fake.NewSimpleClientset()
	factory := informers.NewSharedInformerFactory(client, 0)
	installed := make(chan struct{})
	initializer := kubeadmission.NewInitializer(client, factory, installed, kubeadmission.Freshness{Limit: time.Minute})

	plugin := &watcher{Handler: admission.NewHandler()}
	initializer.Initialize(plugin)
	if plugin.got != factory || plugin.client != client {
		t.Errorf("plugin got informers %v and client %v, want %v, %v", plugin.got, plugin.client, factory, client)
	}
	if plugin.installed != installed {
		t.Error("plugin did not get the channel that tells when the paths are installed")
	}

	if plugin.freshness.Limit != time.Minute {
		t.Errorf("plugin got limit %v of the age of policies, want a minute", plugin.freshness.Limit)
	}

	initializer.Initialize(admission.NewHandler()) // implements no interface of the package
	if err := errors.Join(initializer.PoliciesSynced(), initializer.ParamsSynced()); err != nil {
		t.Errorf("policies and params: %v", err)
	}
	initializer.Initialize(&watcher{Handler: admission.NewHandler(), policies: errPolicies, params: errParams})
	if err := initializer.PoliciesSynced(); !errors.Is(err, errPolicies) {
		t.Errorf("got error %v of the policies of the last plugin, want %v", err, errPolicies)
	}
	if err := initializer.ParamsSynced(); !errors.Is(err, errParams) {
		t.Errorf("got error %v of the params of the last plugin, want %v", err, errParams)
	}
}

// engine is a plugin with a store of its own, or none before it is validated.
type engine struct {
	*admission.Handler
	kind  string
	store typecheck.VerdictStore
}

func (e *engine) VerdictStore() (string, typecheck.VerdictStore) { return e.kind, e.store }

type store string

func (store) SetVerdict(string, types.UID, int64, error) {}

func (store) ForgetVerdict(string) {}

// Stores are returned by kind, in the order of initialization. Plugins create them after
// Initialize.
func TestVerdictStores(t *testing.T) {
	client := fake.NewSimpleClientset()
	initializer := kubeadmission.NewInitializer(client, informers.NewSharedInformerFactory(client, 0), nil, kubeadmission.Freshness{})
	if got := initializer.VerdictStores(); len(got) > 0 {
		t.Errorf("got %v before there are plugins", got)
	}
	plugins := []*engine{{kind: "A"}, {kind: "B"}, {kind: "A"}, {kind: "C"}}
	for _, plugin := range plugins {
		plugin.Handler = admission.NewHandler()
		initializer.Initialize(plugin)
		initializer.Initialize(admission.NewHandler())
	}
	plugins[0].store, plugins[1].store, plugins[2].store = store("first"), store("second"), store("third")
	want := map[string][]typecheck.VerdictStore{"A": {store("first"), store("third")}, "B": {store("second")}}
	if diff := cmp.Diff(want, initializer.VerdictStores()); diff != "" {
		t.Errorf("stores (-want +got):\n%s", diff)
	}
}
