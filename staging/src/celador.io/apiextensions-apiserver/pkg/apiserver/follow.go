// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/client-go/tools/cache"

	"celador.io/apiextensions-apiserver/pkg/customresource/serving"
)

// follow returns an event handler that retires the Resources of updated and deleted
// CustomResourceDefinitions, and deletes the metrics of the deleted ones.
func (r *resources) follow() cache.ResourceEventHandler {
	return cache.ResourceEventHandlerFuncs{
		// The informer may merge an addition and later updates into one event.
		AddFunc: func(object any) { r.update(object.(*apiextensionsv1.CustomResourceDefinition)) },
		UpdateFunc: func(oldObject, newObject any) {
			oldCRD, newCRD := oldObject.(*apiextensionsv1.CustomResourceDefinition), newObject.(*apiextensionsv1.CustomResourceDefinition)
			switch {
			case oldCRD == newCRD:
				// A resync.
			case oldCRD.UID != newCRD.UID:
				// The informer has merged a deletion and an addition into one event.
				r.remove(oldCRD.UID)
				serving.DeleteMetrics(oldCRD.Name)
			}
			r.update(newCRD)
		},
		DeleteFunc: func(object any) {
			if unknown, ok := object.(cache.DeletedFinalStateUnknown); ok {
				object = unknown.Obj
			}
			if crd, ok := object.(*apiextensionsv1.CustomResourceDefinition); ok {
				r.remove(crd.UID)
				serving.DeleteMetrics(crd.Name)
			}
		},
	}
}
