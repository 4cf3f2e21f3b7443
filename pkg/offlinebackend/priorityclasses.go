// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package offlinebackend

import (
	"context"
	"slices"

	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	schedulinginformers "k8s.io/client-go/informers/scheduling"
	schedulingv1informers "k8s.io/client-go/informers/scheduling/v1"
	schedulingv1listers "k8s.io/client-go/listers/scheduling/v1"
	"k8s.io/client-go/tools/cache"
	scheduling "k8s.io/kubernetes/pkg/apis/scheduling/v1"

	"celador.io/offline/cluster"
)

type classGroup struct {
	schedulinginformers.Interface
	objects cluster.Objects
}

func (g classGroup) V1() schedulingv1informers.Interface { return classVersion{objects: g.objects} }

type classVersion struct {
	schedulingv1informers.Interface
	objects cluster.Objects
}

func (v classVersion) PriorityClasses() schedulingv1informers.TypedPriorityClassInformer {
	return classInformer{objects: v.objects}
}

type classInformer struct {
	schedulingv1informers.TypedPriorityClassInformer
	objects cluster.Objects
}

func (classInformer) Informer() cache.SharedIndexInformer { return syncedInformer{} }

func (i classInformer) Lister() schedulingv1listers.PriorityClassLister {
	return classLister{objects: i.objects}
}

type classLister struct {
	schedulingv1listers.PriorityClassLister
	objects cluster.Objects
}

// List returns the priority classes of the cluster and those that kube-apiserver creates in each
// cluster, with defaults.
func (l classLister) List(selector labels.Selector) ([]*schedulingv1.PriorityClass, error) {
	classes, err := l.objects.ListPriorityClasses(context.Background())
	if err != nil {
		return nil, err
	}
	for _, class := range scheduling.SystemPriorityClasses() {
		class = class.DeepCopy()
		scheduling.SetObjectDefaults_PriorityClass(class)
		classes = append(classes, class)
	}
	return slices.DeleteFunc(classes, func(c *schedulingv1.PriorityClass) bool { return !selector.Matches(labels.Set(c.Labels)) }), nil
}

// Get returns a priority class of List, or one of value 0.
func (l classLister) Get(name string) (*schedulingv1.PriorityClass, error) {
	classes, err := l.List(labels.Everything())
	if err != nil {
		return nil, err
	}
	if i := slices.IndexFunc(classes, func(c *schedulingv1.PriorityClass) bool { return c.Name == name }); i >= 0 {
		return classes[i], nil
	}
	class := &schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: name}}
	scheduling.SetObjectDefaults_PriorityClass(class)
	return class, nil
}
