// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package admissionpolicystatus

import (
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/sets"

	v1 "celador.io/api/admissionregistration/v1"
)

// byGroup is an index of policies by the groups of the types that they name.
const byGroup = "group"

func (p *policy) groups() []string {
	groups := sets.New[string]()
	if kind := p.paramKind; kind != nil {
		if version, err := schema.ParseGroupVersion(kind.APIVersion); err == nil {
			groups.Insert(version.Group)
		}
	}
	if constraints := p.matchConstraints; constraints != nil {
		for i := range constraints.ResourceRules {
			groups.Insert(constraints.ResourceRules[i].APIGroups...)
		}
	}
	return groups.UnsortedList()
}

// names tells whether the policy names a group version.
func (p *policy) names(version schema.GroupVersion) bool {
	if kind := p.paramKind; kind != nil && kind.APIVersion == version.String() {
		return true
	}
	return p.matchConstraints != nil && slices.ContainsFunc(p.matchConstraints.ResourceRules, func(rule v1.NamedRuleWithOperations) bool {
		return slices.Contains(rule.APIGroups, version.Group) && slices.Contains(rule.APIVersions, version.Version)
	})
}

// affectedBy tells whether a change of the definition concerns the policy, which names its
// group.
func (p *policy) affectedBy(crd *apiextensionsv1.CustomResourceDefinition) bool {
	if kind := p.paramKind; kind != nil && (kind.Kind == crd.Spec.Names.Kind || kind.Kind == crd.Status.AcceptedNames.Kind) {
		return true
	}
	return p.matchConstraints != nil && slices.ContainsFunc(p.matchConstraints.ResourceRules, func(rule v1.NamedRuleWithOperations) bool {
		return slices.Contains(rule.APIGroups, crd.Spec.Group) && slices.Contains(rule.Resources, crd.Spec.Names.Plural)
	})
}
