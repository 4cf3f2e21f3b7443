// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package admission_test

import (
	"testing"

	"k8s.io/apiserver/pkg/admission"

	"celador.io/client-go/clientset/fake"
	"celador.io/client-go/informers"

	kubeadmission "celador.io/celador/pkg/kubeapiserver/admission"
)

type watcher struct {
	*admission.Handler
	got informers.SharedInformerFactory
}

func (w *watcher) SetPolicyInformers(factory informers.SharedInformerFactory) { w.got = factory }

func TestInitializer(t *testing.T) {
	factory := informers.NewSharedInformerFactory(fake.NewSimpleClientset(), 0)
	initializer := kubeadmission.NewInitializer(factory)

	plugin := &watcher{Handler: admission.NewHandler()}
	initializer.Initialize(plugin)
	if plugin.got != factory {
		t.Errorf("plugin got informers %v, want %v", plugin.got, factory)
	}

	initializer.Initialize(admission.NewHandler()) // does not want informers
}
