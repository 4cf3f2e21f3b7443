// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package offlinebackend

import (
	"context"
	"slices"
	"sync"

	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/kubernetes/plugin/pkg/auth/authorizer/rbac"
	"k8s.io/kubernetes/plugin/pkg/auth/authorizer/rbac/bootstrappolicy"

	"celador.io/offline/cluster"
)

// NewAuthorizer implements cluster.Backend with the authorizers of a server. The group
// system:masters may do everything, and other users what upstream's RBAC authorizer allows them.
// The roles and bindings that kube-apiserver creates in each cluster apply, too, unless objects
// replace them.
func (backend) NewAuthorizer(objects cluster.ObjectReader) cluster.Authorizer {
	r := roles{objects, sync.OnceValue(newBootstrap)}
	return privileged{rbac.New(r, r, r, r)}
}

// privileged allows members of the group system:masters everything, and asks the RBAC authorizer
// about others.
type privileged struct{ *rbac.RBACAuthorizer }

// Authorize implements authorizer.UnconditionalAuthorizer.
func (p privileged) Authorize(ctx context.Context, a authorizer.Attributes) (authorizer.Decision, string, error) {
	if slices.Contains(a.GetUser().GetGroups(), user.SystemPrivilegedGroup) {
		return authorizer.DecisionAllow, "", nil
	}
	return p.RBACAuthorizer.Authorize(ctx, a)
}

// bootstrap holds the roles and bindings that kube-apiserver creates. It is immutable.
type bootstrap struct {
	clusterRoles        []rbacv1.ClusterRole
	clusterRoleBindings []rbacv1.ClusterRoleBinding
	roles               map[string][]rbacv1.Role
	roleBindings        map[string][]rbacv1.RoleBinding
}

func newBootstrap() *bootstrap {
	return &bootstrap{
		clusterRoles:        slices.Concat(bootstrappolicy.ClusterRoles(), bootstrappolicy.ControllerRoles()),
		clusterRoleBindings: slices.Concat(bootstrappolicy.ClusterRoleBindings(), bootstrappolicy.ControllerRoleBindings()),
		roles:               bootstrappolicy.NamespaceRoles(),
		roleBindings:        bootstrappolicy.NamespaceRoleBindings(),
	}
}

// roles adds the bootstrap policy, that is the roles and bindings that kube-apiserver creates in
// each cluster, to the objects of a cluster. It aggregates ClusterRoles as a controller of
// kube-controller-manager does.
type roles struct {
	cluster.ObjectReader
	bootstrap func() *bootstrap
}

// GetRole implements validation.RoleGetter of k8s.io/kubernetes.
func (r roles) GetRole(ctx context.Context, namespace, name string) (*rbacv1.Role, error) {
	role, err := r.ObjectReader.GetRole(ctx, namespace, name)
	if !apierrors.IsNotFound(err) {
		return role, err
	}
	inNamespace := r.bootstrap().roles[namespace]
	if i := slices.IndexFunc(inNamespace, func(role rbacv1.Role) bool { return role.Name == name }); i >= 0 {
		return &inNamespace[i], nil
	}
	return nil, err
}

// ListRoleBindings implements validation.RoleBindingLister of k8s.io/kubernetes.
func (r roles) ListRoleBindings(ctx context.Context, namespace string) ([]*rbacv1.RoleBinding, error) {
	objects, err := r.ObjectReader.ListRoleBindings(ctx, namespace)
	return withBootstrap(objects, r.bootstrap().roleBindings[namespace]), err
}

// GetClusterRole implements validation.ClusterRoleGetter of k8s.io/kubernetes.
func (r roles) GetClusterRole(ctx context.Context, name string) (*rbacv1.ClusterRole, error) {
	all, err := r.ListClusterRoles(ctx)
	if err != nil {
		return nil, err
	}
	if i := slices.IndexFunc(all, func(role *rbacv1.ClusterRole) bool { return role.Name == name }); i >= 0 {
		return aggregate(all[i], all)
	}
	return nil, apierrors.NewNotFound(rbacv1.Resource("clusterroles"), name)
}

// ListClusterRoles returns the ClusterRoles of the cluster and of the bootstrap policy.
func (r roles) ListClusterRoles(ctx context.Context) ([]*rbacv1.ClusterRole, error) {
	objects, err := r.ObjectReader.ListClusterRoles(ctx)
	return withBootstrap(objects, r.bootstrap().clusterRoles), err
}

// ListClusterRoleBindings implements validation.ClusterRoleBindingLister of k8s.io/kubernetes.
func (r roles) ListClusterRoleBindings(ctx context.Context) ([]*rbacv1.ClusterRoleBinding, error) {
	objects, err := r.ObjectReader.ListClusterRoleBindings(ctx)
	return withBootstrap(objects, r.bootstrap().clusterRoleBindings), err
}

// withBootstrap appends those bootstrap objects whose names are not among the objects.
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

// aggregate returns a role with its aggregated rules: those of the roles that its aggregationRule
// selects, and of the roles that these select in turn.
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
