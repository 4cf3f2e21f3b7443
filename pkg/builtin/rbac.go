// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package builtin

import (
	"context"

	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/kubernetes/plugin/pkg/auth/authorizer/rbac"
	"k8s.io/kubernetes/plugin/pkg/auth/authorizer/rbac/bootstrappolicy"

	"celador.io/offline/cluster"
)

// NewAuthorizer implements cluster.Types with upstream's RBAC authorizer. The roles and bindings that kube-apiserver creates in each
// cluster apply, too, unless objects replace them.
func (*types) NewAuthorizer(objects cluster.Objects) authorizer.UnconditionalAuthorizer {
	r := roles{objects}
	return rbac.New(r, r, r, r)
}

// roles adds the bootstrap policy to the objects of a cluster, and aggregates ClusterRoles as a controller of
// kube-controller-manager does.
type roles struct{ cluster.Objects }

// GetClusterRole implements validation.ClusterRoleGetter of k8s.io/kubernetes.
func (r roles) GetClusterRole(ctx context.Context, name string) (*rbacv1.ClusterRole, error) {
	all, err := r.ListClusterRoles(ctx)
	if err != nil {
		return nil, err
	}
	for _, role := range all {
		if role.Name == name {
			return aggregate(role, all)
		}
	}
	return nil, apierrors.NewNotFound(rbacv1.Resource("clusterroles"), name)
}

// ListClusterRoles returns the ClusterRoles of the cluster and of the bootstrap policy.
func (r roles) ListClusterRoles(ctx context.Context) ([]*rbacv1.ClusterRole, error) {
	objects, err := r.Objects.ListClusterRoles(ctx)
	return withBootstrap(objects, bootstrappolicy.ClusterRoles()), err
}

// ListClusterRoleBindings implements validation.ClusterRoleBindingLister of k8s.io/kubernetes.
func (r roles) ListClusterRoleBindings(ctx context.Context) ([]*rbacv1.ClusterRoleBinding, error) {
	objects, err := r.Objects.ListClusterRoleBindings(ctx)
	return withBootstrap(objects, bootstrappolicy.ClusterRoleBindings()), err
}

// withBootstrap appends the bootstrap objects whose names the objects do not have.
func withBootstrap[T any, P interface {
	*T
	metav1.Object
}](objects []P, bootstrap []T) []P {
	names := map[string]bool{}
	for _, object := range objects {
		names[object.GetName()] = true
	}
	for i := range bootstrap {
		if p := P(&bootstrap[i]); !names[p.GetName()] {
			objects = append(objects, p)
		}
	}
	return objects
}

// aggregate returns the role with the rules of the roles that its aggregationRule selects, and of those that their
// aggregationRules select.
func aggregate(role *rbacv1.ClusterRole, all []*rbacv1.ClusterRole) (*rbacv1.ClusterRole, error) {
	if role.AggregationRule == nil {
		return role, nil
	}
	aggregated := role.DeepCopy()
	aggregated.Rules = nil
	seen := map[string]bool{role.Name: true}
	for queue := []*rbacv1.ClusterRole{role}; len(queue) > 0; queue = queue[1:] {
		if queue[0].AggregationRule == nil {
			aggregated.Rules = append(aggregated.Rules, queue[0].Rules...)
			continue
		}
		for _, other := range all {
			selected, err := selects(queue[0].AggregationRule, other)
			if err != nil {
				return nil, err
			}
			if selected && !seen[other.Name] {
				seen[other.Name] = true
				queue = append(queue, other)
			}
		}
	}
	return aggregated, nil
}

// selects reports whether an aggregationRule selects the role.
func selects(rule *rbacv1.AggregationRule, role *rbacv1.ClusterRole) (bool, error) {
	for i := range rule.ClusterRoleSelectors {
		selector, err := metav1.LabelSelectorAsSelector(&rule.ClusterRoleSelectors[i])
		if err != nil {
			return false, err
		}
		if selector.Matches(labels.Set(role.Labels)) {
			return true, nil
		}
	}
	return false, nil
}
