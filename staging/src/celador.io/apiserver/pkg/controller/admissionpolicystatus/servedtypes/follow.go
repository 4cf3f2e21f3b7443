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
	return followAPIServices(informer, isAggregated, changed)
}

// FollowAllAPIServices calls changed like FollowAPIServices, and also when the API server begins or
// ceases to serve a built-in group version, as it may when the cluster is upgraded.
func FollowAllAPIServices(informer cache.SharedIndexInformer, changed func(schema.GroupVersion)) error {
	return followAPIServices(informer, func(service *apiregistrationv1.APIService) bool { return isAggregated(service) || isBuiltIn(service) }, changed)
}

func followAPIServices(informer cache.SharedIndexInformer, followed func(*apiregistrationv1.APIService) bool, changed func(schema.GroupVersion)) error {
	_, err := follow(informer, func(old, current *apiregistrationv1.APIService) {
		if old != nil && current != nil && old.UID == current.UID &&
			equality.Semantic.DeepEqual(old.Spec, current.Spec) && available(old) == available(current) {
			return
		}
		for _, service := range []*apiregistrationv1.APIService{old, current} {
			if service != nil && followed(service) {
				changed(schema.GroupVersion{Group: service.Spec.Group, Version: service.Spec.Version})
				return
			}
		}
	})
	return err
}

// isAggregated reports whether another server than the API server serves a group version.
func isAggregated(service *apiregistrationv1.APIService) bool { return service.Spec.Service != nil }

// isBuiltIn reports whether a group version is compiled into the API server. The API server creates
// the APIServices of these when it starts, and others for custom resources, and labels both.
func isBuiltIn(service *apiregistrationv1.APIService) bool {
	return !isAggregated(service) && service.Labels["kube-aggregator.kubernetes.io/automanaged"] == "onstart"
}

func available(service *apiregistrationv1.APIService) bool {
	return apiregistrationhelper.IsAPIServiceConditionTrue(service, apiregistrationv1.Available)
}

// follow calls handle for every event of the informer with the object before and after the event.
// old is nil if the object was added, and current is nil if it was deleted.
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
