// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package initializer_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apiserver/pkg/admission"

	"celador.io/admission/typecheck"
	"celador.io/client-go/clientset/fake"
	"celador.io/client-go/informers"

	"celador.io/apiserver/pkg/admission/plugin/policy/initializer"
)

var errPolicies, errParams = errors.New("policies are not synced"), errors.New("params are not synced")

// plugin is a plugin with a store of its own, or none before it is validated.
type plugin struct {
	*admission.Handler
	config   initializer.Config
	policies error
	params   error
	kind     string
	store    typecheck.VerdictStore
}

func (w *plugin) SetConfig(config initializer.Config) { w.config = config }

func (w *plugin) PoliciesSynced() error { return w.policies }

func (w *plugin) ParamsSynced() error { return w.params }

func TestInitializer(t *testing.T) {
	client := fake.NewSimpleClientset()
	factory := informers.NewSharedInformerFactory(client, 0)
	plugins := initializer.New(initializer.Config{Client: client, Informers: factory, Freshness: initializer.FreshnessBound{Limit: time.Minute}})

	first := &plugin{Handler: admission.NewHandler()}
	plugins.Initialize(first)
	if first.config.Informers != factory || first.config.Client != client {
		t.Errorf("plugin got informers %v and client %v, want %v, %v", first.config.Informers, first.config.Client, factory, client)
	}
	if first.config.Freshness.Limit != time.Minute {
		t.Errorf("plugin got limit %v of the age of policies, want a minute", first.config.Freshness.Limit)
	}

	second := &plugin{Handler: admission.NewHandler()}
	plugins.Initialize(second)
	if first.config.Lookups == nil || first.config.Lookups != second.config.Lookups {
		t.Error("the plugins share no source of looked up objects")
	}

	plugins.Initialize(admission.NewHandler()) // implements no interface of the package
	if err := errors.Join(plugins.PoliciesSynced(), plugins.ParamsSynced()); err != nil {
		t.Errorf("policies and params: %v", err)
	}
	plugins.Initialize(&plugin{Handler: admission.NewHandler(), policies: errPolicies, params: errParams})
	if err := plugins.PoliciesSynced(); !errors.Is(err, errPolicies) {
		t.Errorf("got error %v of the policies of the last plugin, want %v", err, errPolicies)
	}
	if err := plugins.ParamsSynced(); !errors.Is(err, errParams) {
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
	all := initializer.New(initializer.Config{})
	if got := all.VerdictStores(); len(got) > 0 {
		t.Errorf("got %v before there are plugins", got)
	}
	plugins := []*plugin{{kind: "A"}, {kind: "B"}, {kind: "A"}, {kind: "C"}}
	for _, plugin := range plugins {
		plugin.Handler = admission.NewHandler()
		all.Initialize(plugin)
		all.Initialize(admission.NewHandler())
	}
	plugins[0].store, plugins[1].store, plugins[2].store = store("first"), store("second"), store("third")
	want := map[string][]typecheck.VerdictStore{"A": {store("first"), store("third")}, "B": {store("second")}}
	if diff := cmp.Diff(want, all.VerdictStores()); diff != "" {
		t.Errorf("stores (-want +got):\n%s", diff)
	}
}
