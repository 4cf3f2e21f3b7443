// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package servedtypes

import (
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/cache"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	apiregistrationhelper "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1/helper"
)

// FollowAPIServices calls changed with a group version when an aggregated server begins or ceases
// to serve it, is reached in another way, or becomes available or unavailable. It fails if the
// informer of APIServices has already stopped.
func FollowAPIServices(informer cache.SharedIndexInformer, changed func(schema.GroupVersion)) error {
	_, err := follow(informer, func(old, current *apiregistrationv1.APIService) {
		if old != nil && current != nil && old.UID == current.UID &&
			equality.Semantic.DeepEqual(old.Spec, current.Spec) && available(old) == available(current) {
			return
		}
		for _, service := range []*apiregistrationv1.APIService{old, current} {
			// Without spec.service, this server serves the group version itself.
			if service != nil && service.Spec.Service != nil {
				changed(schema.GroupVersion{Group: service.Spec.Group, Version: service.Spec.Version})
				return
			}
		}
	})
	return err
}

func available(service *apiregistrationv1.APIService) bool {
	return apiregistrationhelper.IsAPIServiceConditionTrue(service, apiregistrationv1.Available)
}

// follow calls handle for every event of the informer with the object before and after the event,
// nil if it does not exist.
func follow[T cache.Object](informer cache.SharedIndexInformer, handle func(old, current T)) (cache.InformerSynced, error) {
	var none T
	registration, err := cache.NewTypedSharedIndexInformer[T](informer).AddTypedEventHandler(cache.TypedResourceEventHandlerFuncs[T]{
		AddFunc:    func(added T) { handle(none, added) },
		UpdateFunc: handle,
		DeleteFunc: func(deleted cache.DeletedObject[T]) {
			if deleted.OptionalObj != none {
				handle(deleted.OptionalObj, none)
			}
		},
	})
	if err != nil {
		return nil, err
	}
	return registration.HasSynced, nil
}
