// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"

	"celador.io/client-go/clientset"
	"celador.io/client-go/informers"
	"celador.io/client-go/informers/internalinterfaces"
)

// CompiledBindings returns the informer of the factory whose bindings Follow compiles. It is not the factory's informer of the bindings, so
// listers of that one keep API objects, and do without a cache until somebody asks for them. The factory distinguishes informers by the type of key.
func CompiledBindings(f informers.SharedInformerFactory, key runtime.Object, newInformer func(clientset.Interface, internalinterfaces.InformerOptions) cache.SharedIndexInformer) cache.SharedIndexInformer {
	return f.InformerFor(key, func(client clientset.Interface, resync time.Duration) cache.SharedIndexInformer {
		return newInformer(client, internalinterfaces.InformerOptions{ResyncPeriod: resync, InformerName: f.InformerName()})
	})
}
