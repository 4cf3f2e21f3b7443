// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"fmt"

	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
)

// RBAC reads the roles and bindings of a cluster. It is safe for concurrent use.
type RBAC struct{ cluster *Cluster }

// GetRole returns a Role, or a NotFound API error.
func (r RBAC) GetRole(_ context.Context, namespace, name string) (*rbacv1.Role, error) {
	return get[*rbacv1.Role](r.cluster, "roles", namespace, name)
}

// GetClusterRole returns a ClusterRole, or a NotFound API error.
func (r RBAC) GetClusterRole(_ context.Context, name string) (*rbacv1.ClusterRole, error) {
	return get[*rbacv1.ClusterRole](r.cluster, "clusterroles", "", name)
}

// ListClusterRoles returns all ClusterRoles.
func (r RBAC) ListClusterRoles(context.Context) ([]*rbacv1.ClusterRole, error) {
	return list[*rbacv1.ClusterRole](r.cluster, "clusterroles", "")
}

// ListRoleBindings returns the RoleBindings of a namespace.
func (r RBAC) ListRoleBindings(_ context.Context, namespace string) ([]*rbacv1.RoleBinding, error) {
	return list[*rbacv1.RoleBinding](r.cluster, "rolebindings", namespace)
}

// ListClusterRoleBindings returns all ClusterRoleBindings.
func (r RBAC) ListClusterRoleBindings(context.Context) ([]*rbacv1.ClusterRoleBinding, error) {
	return list[*rbacv1.ClusterRoleBinding](r.cluster, "clusterrolebindings", "")
}

func get[T runtime.Object](c *Cluster, resource, namespace, name string) (object T, err error) {
	r, err := c.resource(rbacv1.SchemeGroupVersion.WithResource(resource), "")
	if err != nil {
		return object, err
	}
	stored := c.objects.get(r.key(namespace, name))
	if stored == nil {
		return object, apierrors.NewNotFound(r.GroupResource(), name)
	}
	return read[T](r, stored)
}

func list[T runtime.Object](c *Cluster, resource, namespace string) ([]T, error) {
	r, err := c.resource(rbacv1.SchemeGroupVersion.WithResource(resource), "")
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

func read[T runtime.Object](r *resource, stored runtime.Object) (typed T, err error) {
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
