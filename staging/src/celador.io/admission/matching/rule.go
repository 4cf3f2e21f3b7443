// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package matching

import (
	"fmt"
	"slices"
	"strings"

	v1 "celador.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

const wildcard = "*"

var namespaceResource = corev1.SchemeGroupVersion.WithResource("namespaces")

// Target is the resource and kind to which a matching rule refers. They differ from the resource
// and kind of the request if the rule lists an equivalent resource.
type Target struct {
	Resource schema.GroupVersionResource
	Kind     schema.GroupVersionKind
}

// rule is a resource rule with its resources split into resource and subresource.
type rule struct {
	*v1.NamedRuleWithOperations
	resources []resourcePattern
}

type resourcePattern struct{ resource, subresource string }

func compileRules(rules []v1.NamedRuleWithOperations) []rule {
	compiled := make([]rule, len(rules))
	for i := range rules {
		compiled[i].NamedRuleWithOperations = &rules[i]
		for _, pattern := range rules[i].Resources {
			resource, subresource, _ := strings.Cut(pattern, "/")
			compiled[i].resources = append(compiled[i].resources, resourcePattern{resource, subresource})
		}
	}
	return compiled
}

// matchRules reports whether a rule matches the request, and returns the target of the first that
// does. Unless exact is set, a rule that lists an equivalent resource matches, too. An equivalent
// resource without a kind is an error.
//
// If the API server has converted the objects for a webhook, rules that list the resource of the
// converted objects come first, with that resource as the target. The resource of the client's
// request is then only an equivalent one.
func matchRules(rules []rule, exact bool, r *Request) (Target, bool, error) {
	own := r.own(exact)
	for i := range rules {
		if rules[i].matchesResource(own.Resource, r) && rules[i].matchesName(r.GetName()) {
			return own, true, nil
		}
	}
	if exact || len(rules) == 0 {
		return Target{}, false, nil
	}
	for i := range rules {
		for _, resource := range r.equivalentResources() {
			if resource == r.GetResource() || !rules[i].matchesResource(resource, r) {
				continue
			}
			kind := r.kindFor(resource)
			if kind.Empty() {
				return Target{}, false, fmt.Errorf("unable to convert to %v: unknown kind", resource)
			}
			if rules[i].matchesName(r.GetName()) {
				return Target{Resource: resource, Kind: kind}, true, nil
			}
		}
	}
	return Target{}, false, nil
}

func (u *rule) matchesResource(resource schema.GroupVersionResource, r *Request) bool {
	return u.matchesScope(resource, r.GetNamespace()) &&
		includes(u.Operations, v1.OperationType(r.GetOperation())) &&
		includes(u.APIGroups, resource.Group) &&
		includes(u.APIVersions, resource.Version) &&
		slices.ContainsFunc(u.resources, func(p resourcePattern) bool {
			return p.matches(resource.Resource, r.GetSubresource())
		})
}

// matchesName reports whether the rule matches the name in the request, which is empty if the
// server has yet to generate it.
func (u *rule) matchesName(name string) bool {
	return len(u.ResourceNames) == 0 || slices.Contains(u.ResourceNames, name)
}

// matchesScope reports whether the rule matches the scope of a resource. Namespaces are
// cluster-scoped, although requests for them have a namespace.
func (u *rule) matchesScope(resource schema.GroupVersionResource, namespace string) bool {
	if u.Scope == nil || *u.Scope == v1.AllScopes {
		return true
	}
	namespaced := namespace != "" && resource != namespaceResource
	switch *u.Scope {
	case v1.NamespacedScope:
		return namespaced
	case v1.ClusterScope:
		return !namespaced
	default:
		return false
	}
}

func (p resourcePattern) matches(resource, subresource string) bool {
	return (p.resource == wildcard || p.resource == resource) &&
		(p.subresource == wildcard || p.subresource == subresource)
}

func includes[T ~string](list []T, item T) bool {
	return slices.ContainsFunc(list, func(s T) bool { return s == wildcard || s == item })
}
