// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"fmt"

	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/tools/cache"

	"celador.io/admission/policyspec"
)

// Handler returns a handler with which informers of policies and of bindings, with the Go types of
// Set, keep the store up to date. It compiles a policy before it returns from the policy's event.
func (s *Store[PolicyObject, BindingObject, Body]) Handler() cache.ResourceEventHandler {
	set := func(object any) {
		if err := s.Set(object.(runtime.Object)); err != nil {
			utilruntime.HandleError(fmt.Errorf("event of an informer: %w", err))
		}
	}
	return cache.ResourceEventHandlerFuncs{
		AddFunc:    set,
		UpdateFunc: func(_, current any) { set(current) },
		DeleteFunc: func(object any) {
			if missed, ok := object.(cache.DeletedFinalStateUnknown); ok {
				object = missed.Obj
			}
			if err := s.remove(object.(runtime.Object)); err != nil {
				utilruntime.HandleError(fmt.Errorf("deletion in an informer: %w", err))
			}
		},
	}
}

// remove removes the policy or binding with the name and type of an object.
func (s *Store[PolicyObject, BindingObject, Body]) remove(object runtime.Object) error {
	policies, bindings, err := policyspec.Sort[PolicyObject, BindingObject]([]runtime.Object{object})
	for _, p := range policies {
		s.DeletePolicy(p.GetName())
	}
	for _, b := range bindings {
		s.DeleteBinding(b.GetName())
	}
	return err
}
