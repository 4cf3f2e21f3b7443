// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package validatingadmissionpolicy

import (
	"fmt"

	v1 "celador.io/api/admissionregistration/v1"
	informers "celador.io/client-go/informers/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	"celador.io/admission/validating"
)

// follow keeps the store up to date with what the informers see, event by event. It
// returns a function that says whether the store has everything that existed when the
// informers started.
func follow(store *validating.Store, informers informers.Interface) (func() bool, error) {
	policiesSynced, err := handle(informers.ValidatingAdmissionPolicies().Informer(), store.SetPolicy, store.DeletePolicy,
		func(old, current *v1.ValidatingAdmissionPolicy) bool {
			return old.Generation == current.Generation && old.UID == current.UID
		})
	if err != nil {
		return nil, err
	}
	bindingsSynced, err := handle(informers.ValidatingAdmissionPolicyBindings().Informer(), store.SetBinding, store.DeleteBinding,
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
		AddFunc: func(object any) { set(object.(T)) },
		UpdateFunc: func(old, current any) {
			if !same(old.(T), current.(T)) {
				set(current.(T))
			}
		},
		DeleteFunc: func(object any) {
			if tombstone, ok := object.(cache.DeletedFinalStateUnknown); ok {
				remove(tombstone.Key)
				return
			}
			remove(object.(T).GetName())
		},
	})
	if err != nil {
		return nil, fmt.Errorf("watching policies: %w", err)
	}
	return registration.HasSynced, nil
}
