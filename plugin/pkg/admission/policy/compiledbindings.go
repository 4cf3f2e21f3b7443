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

// NewInformer is a generated constructor of informers.
type NewInformer func(clientset.Interface, internalinterfaces.InformerOptions) cache.SharedIndexInformer

// compiledBinding distinguishes the informer of compiled bindings B from a factory's own informer of them.
type compiledBinding[B Object] struct{ runtime.Object }

// CompiledBindings returns the informer of the factory whose bindings Follow compiles. It is not the factory's informer of the bindings, so
// listers of that one keep API objects, and do without a cache until somebody asks for them.
func CompiledBindings[B Object](f informers.SharedInformerFactory, newInformer NewInformer) cache.SharedIndexInformer {
	return f.InformerFor(compiledBinding[B]{}, func(client clientset.Interface, resync time.Duration) cache.SharedIndexInformer {
		return newInformer(client, internalinterfaces.InformerOptions{ResyncPeriod: resync, InformerName: f.InformerName()})
	})
}
