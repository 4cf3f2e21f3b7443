// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package validatingadmissionpolicy

import (
	"errors"
	"fmt"
	"time"

	v1 "celador.io/api/admissionregistration/v1"
	informers "celador.io/client-go/informers/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/tools/cache"

	"celador.io/admission/validating"
)

// follow keeps the store up to date with what the informers see, event by event. It
// returns a function that says whether the store has everything that existed when the
// informers started.
func follow(store *validating.Store, informers informers.Interface) (func() bool, error) {
	removePolicy := func(name string) {
		store.DeletePolicy(name)
		ownMetrics.Forget(name)
	}
	policies, bindings := informers.ValidatingAdmissionPolicies().Informer(), informers.ValidatingAdmissionPolicyBindings().Informer()
	compact := newCompactor().transform
	if err := errors.Join(policies.SetTransform(compact), bindings.SetTransform(compact)); err != nil {
		return nil, fmt.Errorf("watching policies: %w", err)
	}
	policiesSynced, err := handle(policies, store.SetPolicy, removePolicy,
		func(old, current *v1.ValidatingAdmissionPolicy) bool {
			return old.Generation == current.Generation && old.UID == current.UID
		})
	if err != nil {
		return nil, err
	}
	bindingsSynced, err := handle(bindings, store.SetBinding, store.DeleteBinding,
		func(old, current *v1.ValidatingAdmissionPolicyBinding) bool {
			return old.ResourceVersion == current.ResourceVersion
		})
	if err != nil {
		return nil, err
	}
	return func() bool { return policiesSynced() && bindingsSynced() }, nil
}

// handle passes on what an informer sees, except updates that change nothing of
// interest: resyncs, and status writes of policies.
func handle[T metav1.Object](informer cache.SharedIndexInformer, set func(T), remove func(name string), same func(old, current T) bool) (cache.InformerSynced, error) {
	registration, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: func(object any) { timed(func() { set(object.(T)) }) },
		UpdateFunc: func(old, current any) {
			if !same(old.(T), current.(T)) {
				timed(func() { set(current.(T)) })
			}
		},
		DeleteFunc: func(object any) {
			name, err := cache.DeletionHandlingMetaNamespaceKeyFunc(object)
			if err != nil {
				utilruntime.HandleError(fmt.Errorf("deletion of a policy or binding: %w", err))
				return
			}
			timed(func() { remove(name) })
		},
	})
	if err != nil {
		return nil, fmt.Errorf("watching policies: %w", err)
	}
	return registration.HasSynced, nil
}

func timed(change func()) {
	start := time.Now()
	change()
	ownMetrics.ObserveBuild(time.Since(start))
}
