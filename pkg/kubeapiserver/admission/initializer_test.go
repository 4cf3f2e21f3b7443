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

// plugin is a plugin with a store of its own, or none before it is validated.
type plugin struct {
	*admission.Handler
	client    clientset.Interface
	got       informers.SharedInformerFactory
	installed <-chan struct{}
	freshness kubeadmission.Freshness
	policies  error
	params    error
	kind      string
	store     typecheck.VerdictStore
}

func (w *plugin) SetPolicyInformers(client clientset.Interface, factory informers.SharedInformerFactory) {
	w.client, w.got = client, factory
}

func (w *plugin) SetInstalledPaths(installed <-chan struct{}) { w.installed = installed }

func (w *plugin) SetFreshness(freshness kubeadmission.Freshness) { w.freshness = freshness }

func (w *plugin) PoliciesSynced() error { return w.policies }

func (w *plugin) ParamsSynced() error { return w.params }

func TestInitializer(t *testing.T) {
	client := fake.NewSimpleClientset()
	factory := informers.NewSharedInformerFactory(client, 0)
	installed := make(chan struct{})
	initializer := kubeadmission.NewInitializer(client, factory, installed, kubeadmission.Freshness{Limit: time.Minute})

	first := &plugin{Handler: admission.NewHandler()}
	initializer.Initialize(first)
	if first.got != factory || first.client != client {
		t.Errorf("plugin got informers %v and client %v, want %v, %v", first.got, first.client, factory, client)
	}
	if first.installed != installed {
		t.Error("plugin did not get the channel that tells when the paths are installed")
	}

	if first.freshness.Limit != time.Minute {
		t.Errorf("plugin got limit %v of the age of policies, want a minute", first.freshness.Limit)
	}

	initializer.Initialize(admission.NewHandler()) // implements no interface of the package
	if err := errors.Join(initializer.PoliciesSynced(), initializer.ParamsSynced()); err != nil {
		t.Errorf("policies and params: %v", err)
	}
	initializer.Initialize(&plugin{Handler: admission.NewHandler(), policies: errPolicies, params: errParams})
	if err := initializer.PoliciesSynced(); !errors.Is(err, errPolicies) {
		t.Errorf("got error %v of the policies of the last plugin, want %v", err, errPolicies)
	}
	if err := initializer.ParamsSynced(); !errors.Is(err, errParams) {
		t.Errorf("got error %v of the params of the last plugin, want %v", err, errParams)
	}
}

func (w *plugin) VerdictStore() (string, typecheck.VerdictStore) { return w.kind, w.store }

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
	plugins := []*plugin{{kind: "A"}, {kind: "B"}, {kind: "A"}, {kind: "C"}}
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
