// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package admissionpolicystatus

import (
	"context"
	"errors"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/tools/cache"
)

// Kind is one of the kinds of policies: where policies of the kind come from, what is looked
// at, and how their status is written. Belongs to one controller.
type Kind struct {
	// name is that in manifests and in labels of metrics.
	name     string
	informer cache.SharedIndexInformer
	// view returns what is looked at of an object.
	view func(object any) *policy
	// patch changes a status.
	patch func(ctx context.Context, name string, patchType types.PatchType, data []byte, options metav1.PatchOptions) error
	// enforceTypes has spec.typeChecking observed: with Enforced, a policy with type errors
	// is not available.
	enforceTypes bool
}

// follow has changed called for every policy that appears, changes or goes. The function that
// it returns tells whether that has happened for all that were there at first.
func (k *Kind) follow(changed func(key)) (cache.InformerSynced, error) {
	handle := func(object any) {
		name, err := cache.DeletionHandlingMetaNamespaceKeyFunc(object)
		if err != nil {
			utilruntime.HandleError(fmt.Errorf("change of a %s: %w", k.name, err))
			return
		}
		changed(key{k, name})
	}
	registration, handlerErr := k.informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    handle,
		UpdateFunc: func(_, current any) { handle(current) },
		DeleteFunc: handle,
	})
	indexers := cache.Indexers{byGroup: func(object any) ([]string, error) { return k.view(object).groups(), nil }}
	if err := errors.Join(handlerErr, k.informer.AddIndexers(indexers), k.informer.SetTransform(compact)); err != nil {
		return nil, fmt.Errorf("watching %s: %w", k.name, err)
	}
	return registration.HasSynced, nil
}

// get returns the policy of a name, nil if there is none.
func (k *Kind) get(name string) (*policy, error) {
	object, exists, err := k.informer.GetIndexer().GetByKey(name)
	if err != nil || !exists {
		return nil, err
	}
	return k.view(object), nil
}
