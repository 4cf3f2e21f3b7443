// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	informers "k8s.io/apiextensions-apiserver/pkg/client/informers/externalversions/apiextensions/v1"

	"celador.io/apiextensions-apiserver/pkg/customresource/serving"
)

// eventHandler returns an event handler that retires the ServedResources of updated and deleted
// CustomResourceDefinitions, and deletes the metrics of the deleted ones.
func (r *resources) eventHandler() informers.CustomResourceDefinitionHandlerFuncs {
	return informers.CustomResourceDefinitionHandlerFuncs{
		// The informer may merge an addition and later updates into one event.
		AddFunc: r.update,
		UpdateFunc: func(old, current *apiextensionsv1.CustomResourceDefinition) {
			// The informer may merge a deletion and an addition into one event.
			if old.UID != current.UID {
				r.remove(old.UID)
				serving.DeleteMetrics(old.Name)
			}
			r.update(current)
		},
		DeleteFunc: func(deleted informers.DeletedCustomResourceDefinition) {
			if crd := deleted.OptionalObj; crd != nil {
				r.remove(crd.UID)
				serving.DeleteMetrics(crd.Name)
			}
		},
	}
}
