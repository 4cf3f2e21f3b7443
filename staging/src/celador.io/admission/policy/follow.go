// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/tools/cache"

	"celador.io/admission/policyspec"
)

// An Informer tells handlers about the objects of one kind. cache.SharedInformer is one.
type Informer interface {
	AddEventHandler(cache.ResourceEventHandler) (cache.ResourceEventHandlerRegistration, error)
}

// Follow keeps the store up to date with an informer, whose objects are policies or bindings of the
// Go types that Set accepts. The store compiles each policy before it handles the next event.
func (s *Store[PolicyObject, BindingObject, Body]) Follow(informer Informer) error {
	set := func(object any) {
		if err := s.Set(object.(runtime.Object)); err != nil {
			utilruntime.HandleError(fmt.Errorf("event of an informer: %w", err))
		}
	}
	registration, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
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
	})
	if err != nil {
		return err
	}
	s.lock.Lock()
	defer s.lock.Unlock()
	s.followed = append(s.followed, registration.HasSynced)
	return nil
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

// Synced returns nil once the store has all objects that existed when the informers of Follow
// started, and an error before that.
func (s *Store[PolicyObject, BindingObject, Body]) Synced() error {
	s.lock.Lock()
	defer s.lock.Unlock()
	for _, synced := range s.followed {
		if !synced() {
			return errors.New("policies and bindings are not listed yet")
		}
	}
	return nil
}
