// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"fmt"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/tools/cache"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	apiregistrationhelper "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1/helper"
)

// followAPIServices calls changed with a group version when another server begins or ceases
// to serve it, and when that server is reached in another way or becomes available or
// unavailable. The error is one of an informer that has stopped.
func followAPIServices(informer cache.SharedIndexInformer, changed func(schema.GroupVersion)) error {
	report := func(services ...*apiregistrationv1.APIService) {
		for _, service := range services {
			if service.Spec.Service != nil {
				changed(schema.GroupVersion{Group: service.Spec.Group, Version: service.Spec.Version})
				return
			}
		}
	}
	_, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: func(object any) { report(object.(*apiregistrationv1.APIService)) },
		UpdateFunc: func(old, current any) {
			before, after := old.(*apiregistrationv1.APIService), current.(*apiregistrationv1.APIService)
			if before.UID != after.UID || !equality.Semantic.DeepEqual(before.Spec, after.Spec) || available(before) != available(after) {
				report(before, after)
			}
		},
		DeleteFunc: func(object any) {
			if deleted, ok := object.(cache.DeletedFinalStateUnknown); ok {
				object = deleted.Obj
			}
			service, ok := object.(*apiregistrationv1.APIService)
			if !ok {
				utilruntime.HandleError(fmt.Errorf("deletion of an APIService: got %T", object))
				return
			}
			report(service)
		},
	})
	return err
}

func available(service *apiregistrationv1.APIService) bool {
	return apiregistrationhelper.IsAPIServiceConditionTrue(service, apiregistrationv1.Available)
}
