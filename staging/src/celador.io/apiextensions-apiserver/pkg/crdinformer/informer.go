// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package crdinformer provides an informer that stores Kubernetes' type of
// CustomResourceDefinition, for Kubernetes' controllers. That type has no fields for expressions,
// so an ExpressionCache beside the informer holds them.
package crdinformer

import (
	"context"
	"fmt"
	"time"

	upstreamv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	upstreamclient "k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset"
	upstreaminformers "k8s.io/apiextensions-apiserver/pkg/client/informers/externalversions"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	v1 "celador.io/api/apiextensions/v1"
	conversions "celador.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// Client reads CustomResourceDefinitions. ApiextensionsV1().CustomResourceDefinitions() of
// celador.io/client-go's clientset implements it.
type Client interface {
	List(ctx context.Context, options metav1.ListOptions) (*v1.CustomResourceDefinitionList, error)
	Watch(ctx context.Context, options metav1.ListOptions) (watch.Interface, error)
}

// NewSharedInformerFactory returns a factory of Kubernetes' informers whose informer of
// CustomResourceDefinitions reads with crds. The informer stores and delivers Kubernetes' type, and
// records the expressions in the returned ExpressionCache. It keeps the conversion strategy
// ConversionRules, so that code that does not know the strategy fails instead of converting as for
// None. Informers of other kinds read with client. The factory is not started.
func NewSharedInformerFactory(client upstreamclient.Interface, crds Client, resync time.Duration) (upstreaminformers.SharedInformerFactory, *ExpressionCache) {
	expressions := newExpressionCache()
	factory := upstreaminformers.NewSharedInformerFactory(client, resync)
	factory.InformerFor(&upstreamv1.CustomResourceDefinition{}, func(_ upstreamclient.Interface, resync time.Duration) cache.SharedIndexInformer {
		return newInformer(crds, expressions, resync)
	})
	return factory, expressions
}

// newInformer returns an informer with the indices of Kubernetes' informer.
func newInformer(client Client, expressions *ExpressionCache, resync time.Duration) cache.SharedIndexInformer {
	listWatch := &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
			return client.List(ctx, options)
		},
		WatchFuncWithContext: client.Watch,
	}
	// The example object has Celador's type: the reflector compares the type of events with it
	// before the transform sees them.
	informer := cache.NewSharedIndexInformerWithOptions(
		cache.ToListWatcherWithWatchListSemantics(listWatch, client), &v1.CustomResourceDefinition{},
		cache.SharedIndexInformerOptions{
			ResyncPeriod: resync,
			Indexers:     cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc},
		})
	// SetTransform fails only on an informer that runs.
	utilruntime.Must(informer.SetTransform(expressions.split))
	return informer
}

// split is the informer's transform. It returns Kubernetes' part of a CustomResourceDefinition and
// records the expressions. After a watch list, the informer transforms the results of the transform
// again, so split returns objects of other types unchanged.
func (e *ExpressionCache) split(obj any) (any, error) {
	crd, ok := obj.(*v1.CustomResourceDefinition)
	if !ok {
		return obj, nil
	}
	part, expressions, err := conversions.Split(crd)
	if err != nil {
		return nil, fmt.Errorf("split CustomResourceDefinition %q: %w", crd.Name, err)
	}
	if expressions != nil && expressions.ConversionRules {
		part.Spec.Conversion.Strategy = upstreamv1.ConversionStrategyType(v1.ConversionRules)
	}
	e.record(part, expressions)
	return part, nil
}
