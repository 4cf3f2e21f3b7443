// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package audit

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	v1 "celador.io/api/admissionregistration/v1"
	"celador.io/offline/cluster"
)

// Needs says which objects an audit needs: the types that policies match, and those that they read
// as params or look up. It is immutable.
type Needs struct {
	rules                   []v1.NamedRuleWithOperations
	paramKinds, lookupKinds []schema.GroupVersionKind
}

// NeedsOf returns the needs of the validating policies among the objects. It returns an error if a
// policy cannot be decoded.
func NeedsOf(objects []*unstructured.Unstructured) (*Needs, error) {
	n := &Needs{}
	for _, object := range objects {
		if kind := object.GroupVersionKind().GroupKind(); !IsPolicy(kind) || kind.Kind != cluster.ValidatingKind {
			continue
		}
		p, err := convert[v1.ValidatingAdmissionPolicy](object)
		if err != nil {
			return nil, err
		}
		n.add(p)
	}
	return n, nil
}

func (n *Needs) add(p *v1.ValidatingAdmissionPolicy) {
	if p.Spec.MatchConstraints != nil {
		n.rules = append(n.rules, p.Spec.MatchConstraints.ResourceRules...)
	}
	if p.Spec.ParamKind != nil {
		n.paramKinds = withKind(n.paramKinds, p.Spec.ParamKind.APIVersion, p.Spec.ParamKind.Kind)
	}
	for i := range p.Spec.Lookups {
		n.lookupKinds = withKind(n.lookupKinds, p.Spec.Lookups[i].APIVersion, p.Spec.Lookups[i].Kind)
	}
}

func withKind(kinds []schema.GroupVersionKind, apiVersion, name string) []schema.GroupVersionKind {
	if kind := schema.FromAPIVersionAndKind(apiVersion, name); !slices.Contains(kinds, kind) {
		return append(kinds, kind)
	}
	return kinds
}

// ParamKinds returns the kinds of the policies' params. The caller owns the result.
func (n *Needs) ParamKinds() []schema.GroupVersionKind { return slices.Clone(n.paramKinds) }

// LookupKinds returns the kinds that policies look up. The caller owns the result.
func (n *Needs) LookupKinds() []schema.GroupVersionKind { return slices.Clone(n.lookupKinds) }

// ReadsParams reports whether objects of a kind are params of a policy.
func (n *Needs) ReadsParams(kind schema.GroupKind) bool { return hasKind(n.paramKinds, kind) }

// LooksUp reports whether a policy looks up objects of a kind.
func (n *Needs) LooksUp(kind schema.GroupKind) bool { return hasKind(n.lookupKinds, kind) }

func hasKind(kinds []schema.GroupVersionKind, kind schema.GroupKind) bool {
	return slices.ContainsFunc(kinds, func(k schema.GroupVersionKind) bool { return k.GroupKind() == kind })
}

// Matches reports whether a policy may apply to objects of the resource. It looks at the group and
// the name of the resource only, because policies match equivalent versions. Without a name, it
// reports whether a policy may apply to any resource of the group.
func (n *Needs) Matches(resource schema.GroupResource) bool {
	return slices.ContainsFunc(n.rules, func(rule v1.NamedRuleWithOperations) bool {
		return (slices.Contains(rule.APIGroups, resource.Group) || slices.Contains(rule.APIGroups, "*")) &&
			slices.ContainsFunc(rule.Resources, func(name string) bool {
				return isWhole(name) && (resource.Resource == "" || strings.HasPrefix(name, "*") || strings.TrimSuffix(name, "/*") == resource.Resource)
			})
	})
}

// isWhole reports whether a resource name in a rule includes the resource itself, as pods and
// pods/* do, and not only a subresource.
func isWhole(name string) bool {
	_, subresource, _ := strings.Cut(name, "/")
	return subresource == "" || subresource == "*"
}
