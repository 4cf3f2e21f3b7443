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

func groupsOf(object any) ([]string, error) {
	policy, ok := object.(*v1.ValidatingAdmissionPolicy)
	if !ok {
		return nil, nil
	}
	groups := sets.New[string]()
	if kind := policy.Spec.ParamKind; kind != nil {
		if version, err := schema.ParseGroupVersion(kind.APIVersion); err == nil {
			groups.Insert(version.Group)
		}
	}
	if constraints := policy.Spec.MatchConstraints; constraints != nil {
		for i := range constraints.ResourceRules {
			groups.Insert(constraints.ResourceRules[i].APIGroups...)
		}
	}
	return groups.UnsortedList(), nil
}

// names tells whether a policy names a group version.
func names(policy *v1.ValidatingAdmissionPolicy, version schema.GroupVersion) bool {
	if kind := policy.Spec.ParamKind; kind != nil && kind.APIVersion == version.String() {
		return true
	}
	return policy.Spec.MatchConstraints != nil && slices.ContainsFunc(policy.Spec.MatchConstraints.ResourceRules, func(rule v1.NamedRuleWithOperations) bool {
		return slices.Contains(rule.APIGroups, version.Group) && slices.Contains(rule.APIVersions, version.Version)
	})
}

// affects tells whether a change of the definition concerns a policy that names its group.
func affects(crd *apiextensionsv1.CustomResourceDefinition, policy *v1.ValidatingAdmissionPolicy) bool {
	if kind := policy.Spec.ParamKind; kind != nil && (kind.Kind == crd.Spec.Names.Kind || kind.Kind == crd.Status.AcceptedNames.Kind) {
		return true
	}
	return policy.Spec.MatchConstraints != nil && slices.ContainsFunc(policy.Spec.MatchConstraints.ResourceRules, func(rule v1.NamedRuleWithOperations) bool {
		return slices.Contains(rule.APIGroups, crd.Spec.Group) && slices.Contains(rule.Resources, crd.Spec.Names.Plural)
	})
}
