// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/clock"

	v1 "celador.io/api/admissionregistration/v1"
	policyinformers "celador.io/client-go/informers"

	"celador.io/polyfill/pkg/routing"
)

// newTable returns the routes of the policies of a factory, and a function that reports whether the
// table has all policies that existed when the factory started.
func newTable(policies policyinformers.SharedInformerFactory) (_ *routing.Table, synced func() bool, err error) {
	table := routing.NewTable(clock.RealClock{})
	informers := policies.Admissionregistration().V1()
	validating, err := follow(informers.ValidatingAdmissionPolicies().Informer(), table.SetValidating,
		func(p *v1.ValidatingAdmissionPolicy) { table.Delete(routing.Validating, p.Name) })
	if err != nil {
		return nil, nil, err
	}
	mutating, err := follow(informers.MutatingAdmissionPolicies().Informer(), table.SetMutating,
		func(p *v1.MutatingAdmissionPolicy) { table.Delete(routing.Mutating, p.Name) })
	if err != nil {
		return nil, nil, err
	}
	return table, func() bool { return validating() && mutating() }, nil
}

// follow calls set with each new or changed object of an informer, and remove with each deleted
// one. It returns a function that reports whether set was called for all objects that existed when
// the informer started.
func follow[T any](informer cache.SharedIndexInformer, set, remove func(T)) (synced func() bool, err error) {
	registration, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(object any) { set(object.(T)) },
		UpdateFunc: func(_, object any) { set(object.(T)) },
		DeleteFunc: func(object any) {
			if unknown, ok := object.(cache.DeletedFinalStateUnknown); ok {
				object = unknown.Obj
			}
			remove(object.(T))
		},
	})
	if err != nil {
		return nil, err
	}
	return registration.HasSynced, nil
}
