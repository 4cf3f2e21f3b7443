// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package admission_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/types"
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

type listener struct {
	*admission.Handler
	heard []string
}

func (l *listener) PolicyChecked(kind, name string, uid types.UID, generation int64, err error) {
	l.heard = append(l.heard, fmt.Sprint(kind, " ", name, " ", uid, " ", generation, " ", err))
}

func (l *listener) PolicyGone(kind, name string) { l.heard = append(l.heard, kind+" "+name+" gone") }

func TestInitializer(t *testing.T) {
	factory := informers.NewSharedInformerFactory(fake.NewSimpleClientset(), 0)
	initializer := kubeadmission.NewInitializer(factory)

	plugin := &watcher{Handler: admission.NewHandler()}
	initializer.Initialize(plugin)
	if plugin.got != factory {
		t.Errorf("plugin got informers %v, want %v", plugin.got, factory)
	}

	initializer.Initialize(admission.NewHandler()) // does not want anything
}

func TestPolicyCheckListeners(t *testing.T) {
	initializer := kubeadmission.NewInitializer(informers.NewSharedInformerFactory(fake.NewSimpleClientset(), 0))
	initializer.PolicyChecked("Kind", "p", "a", 1, nil) // nobody listens

	first, second := &listener{Handler: admission.NewHandler()}, &listener{Handler: admission.NewHandler()}
	initializer.Initialize(first)
	initializer.Initialize(admission.NewHandler())
	initializer.Initialize(second)
	initializer.PolicyChecked("Kind", "p", "a", 1, nil)
	initializer.PolicyChecked("Kind", "p", "a", 2, errors.New("wrong"))
	initializer.PolicyGone("Kind", "p")
	for _, l := range []*listener{first, second} {
		if want := []string{"Kind p a 1 <nil>", "Kind p a 2 wrong", "Kind p gone"}; !slices.Equal(l.heard, want) {
			t.Errorf("plugin heard %q, want %q", l.heard, want)
		}
	}
}
