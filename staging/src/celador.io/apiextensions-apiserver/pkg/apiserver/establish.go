// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"time"

	"k8s.io/apiextensions-apiserver/pkg/apihelpers"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/client-go/tools/cache"
)

// queueForEstablishing returns an event handler that calls queue for CustomResourceDefinitions with
// accepted names that are not established. With several API servers, the delay is five seconds, so
// that all of them have seen the CustomResourceDefinition before it is established.
func queueForEstablishing(queue func(name string, delay time.Duration), masterCount int) cache.ResourceEventHandler {
	delay := time.Duration(0)
	if masterCount > 1 {
		delay = 5 * time.Second
	}
	return cache.ResourceEventHandlerFuncs{UpdateFunc: func(_, object any) {
		crd := object.(*apiextensionsv1.CustomResourceDefinition)
		if apihelpers.IsCRDConditionTrue(crd, apiextensionsv1.NamesAccepted) && !apihelpers.IsCRDConditionTrue(crd, apiextensionsv1.Established) {
			queue(crd.Name, delay)
		}
	}}
}
