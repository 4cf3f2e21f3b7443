// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package offlinebackend

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	scheduling "k8s.io/kubernetes/pkg/apis/scheduling/v1"

	"celador.io/offline/cluster"
)

// newPluginInformers returns the informers of service accounts and priority classes that plugins
// read. A lookup by name always succeeds: if the cluster has no such object, it finds an empty one.
// Plugins ask only whether these informers have synced, and read their indexers through listers;
// other methods panic. Informers of other types never sync.
func newPluginInformers(objects cluster.ObjectReader) informers.SharedInformerFactory {
	factory := informers.NewSharedInformerFactory(nil, 0)
	factory.InformerFor(&corev1.ServiceAccount{}, syncedInformer{indexer: accounts{objects: objects}}.new)
	factory.InformerFor(&schedulingv1.PriorityClass{}, syncedInformer{indexer: priorityClasses{objects: objects}}.new)
	return factory
}

// A syncedInformer is an informer whose indexer reads the objects of a cluster each time.
type syncedInformer struct {
	cache.SharedIndexInformer
	indexer cache.Indexer
}

func (i syncedInformer) new(kubernetes.Interface, time.Duration) cache.SharedIndexInformer { return i }

func (syncedInformer) HasSynced() bool { return true }

func (i syncedInformer) GetIndexer() cache.Indexer { return i.indexer }

type accounts struct {
	cache.Indexer
	objects cluster.ObjectReader
}

// GetByKey returns the service account of the cluster. If there is none, it returns an account
// without fields.
func (a accounts) GetByKey(key string) (account any, exists bool, err error) {
	namespace, name, _ := strings.Cut(key, "/")
	account, err = a.objects.GetServiceAccount(context.Background(), namespace, name)
	if apierrors.IsNotFound(err) {
		return &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}, true, nil
	}
	return account, true, err
}

type priorityClasses struct {
	cache.Indexer
	objects cluster.ObjectReader
}

// List returns all priority classes. It logs errors, because List of an indexer returns none.
func (p priorityClasses) List() []any {
	all, err := p.all()
	if err != nil {
		utilruntime.HandleError(err)
	}
	return all
}

// all returns the priority classes of the cluster and those that kube-apiserver creates in each
// cluster, with defaults.
func (p priorityClasses) all() (all []any, err error) {
	classes, err := p.objects.ListPriorityClasses(context.Background())
	if err != nil {
		err = fmt.Errorf("listing the priority classes of a cluster: %w", err)
	}
	for _, class := range append(classes, scheduling.SystemPriorityClasses()...) {
		class = class.DeepCopy()
		scheduling.SetObjectDefaults_PriorityClass(class)
		all = append(all, class)
	}
	return all, err
}

// GetByKey returns the priority class of the cluster. If there is none, it returns a class of value
// 0.
func (p priorityClasses) GetByKey(name string) (class any, exists bool, err error) {
	all, err := p.all()
	if err != nil {
		return nil, false, err
	}
	if i := slices.IndexFunc(all, func(c any) bool { return c.(*schedulingv1.PriorityClass).Name == name }); i >= 0 {
		return all[i], true, nil
	}
	zero := &schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: name}}
	scheduling.SetObjectDefaults_PriorityClass(zero)
	return zero, true, nil
}
