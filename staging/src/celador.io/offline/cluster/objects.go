// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// ObjectReader reads objects of a cluster for authorizers and admission plugins. Changes by
// requests are not visible. It is safe for concurrent use.
type ObjectReader struct{ cluster *Cluster }

// GetServiceAccount returns a ServiceAccount, or a NotFound API error.
func (o ObjectReader) GetServiceAccount(_ context.Context, namespace, name string) (*corev1.ServiceAccount, error) {
	return get[*corev1.ServiceAccount](o.cluster, o.cluster.objects, corev1.SchemeGroupVersion.WithResource("serviceaccounts"), namespace, name)
}

// ListPriorityClasses returns all PriorityClasses.
func (o ObjectReader) ListPriorityClasses(context.Context) ([]*schedulingv1.PriorityClass, error) {
	return list[*schedulingv1.PriorityClass](o.cluster, schedulingv1.SchemeGroupVersion.WithResource("priorityclasses"), "")
}

// GetRole returns a Role, or a NotFound API error.
func (o ObjectReader) GetRole(_ context.Context, namespace, name string) (*rbacv1.Role, error) {
	return get[*rbacv1.Role](o.cluster, o.cluster.objects, rbacv1.SchemeGroupVersion.WithResource("roles"), namespace, name)
}

// GetClusterRole returns a ClusterRole, or a NotFound API error.
func (o ObjectReader) GetClusterRole(_ context.Context, name string) (*rbacv1.ClusterRole, error) {
	return get[*rbacv1.ClusterRole](o.cluster, o.cluster.objects, rbacv1.SchemeGroupVersion.WithResource("clusterroles"), "", name)
}

// ListClusterRoles returns all ClusterRoles.
func (o ObjectReader) ListClusterRoles(context.Context) ([]*rbacv1.ClusterRole, error) {
	return list[*rbacv1.ClusterRole](o.cluster, rbacv1.SchemeGroupVersion.WithResource("clusterroles"), "")
}

// ListRoleBindings returns the RoleBindings of a namespace.
func (o ObjectReader) ListRoleBindings(_ context.Context, namespace string) ([]*rbacv1.RoleBinding, error) {
	return list[*rbacv1.RoleBinding](o.cluster, rbacv1.SchemeGroupVersion.WithResource("rolebindings"), namespace)
}

// ListClusterRoleBindings returns all ClusterRoleBindings.
func (o ObjectReader) ListClusterRoleBindings(context.Context) ([]*rbacv1.ClusterRoleBinding, error) {
	return list[*rbacv1.ClusterRoleBinding](o.cluster, rbacv1.SchemeGroupVersion.WithResource("clusterrolebindings"), "")
}

// get returns an object of a layer, or a NotFound API error.
func get[T runtime.Object](c *Cluster, l *layer, resource schema.GroupVersionResource, namespace, name string) (object T, err error) {
	r, err := c.resource(resource, "")
	if err != nil {
		return object, err
	}
	stored := l.get(r.key(namespace, name))
	if stored == nil {
		return object, apierrors.NewNotFound(r.GroupResource(), name)
	}
	return read[T](r, stored)
}

func list[T runtime.Object](c *Cluster, resource schema.GroupVersionResource, namespace string) ([]T, error) {
	if len(c.objects.list("/"+resource.Resource+"/")) == 0 {
		return nil, nil // without the time that it takes to install the group
	}
	r, err := c.resource(resource, "")
	if err != nil {
		return nil, err
	}
	var objects []T
	for _, stored := range c.objects.list(r.root(namespace)) {
		object, err := read[T](r, stored)
		if err != nil {
			return nil, err
		}
		objects = append(objects, object)
	}
	return objects, nil
}

func read[T any](r *resource, stored runtime.Object) (typed T, err error) {
	object, err := r.read(stored)
	if err != nil {
		return typed, err
	}
	typed, ok := object.(T)
	if !ok {
		return typed, fmt.Errorf("%s are %T, not %T", r.Resource, object, typed)
	}
	return typed, nil
}
