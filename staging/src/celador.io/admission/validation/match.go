// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	v1 "celador.io/api/admissionregistration/v1"
)

// checkMatchConstraints checks the match constraints of a policy. Unlike the match resources of a
// binding, they need a rule, because type checking derives the types of 'object' from rules.
func checkMatchConstraints(path *field.Path, match *v1.MatchResources) field.ErrorList {
	return slices.Concat(
		checkMatchResources(path, match),
		when(len(match.ResourceRules) == 0, field.Required(path.Child("resourceRules"), "")),
	)
}

func checkMatchResources(path *field.Path, match *v1.MatchResources) field.ErrorList {
	return slices.Concat(
		oneOf(v1.Equivalent, v1.Exact).required(path.Child("matchPolicy"), match.MatchPolicy),
		required(path.Child("namespaceSelector"), match.NamespaceSelector, checkSelector),
		required(path.Child("objectSelector"), match.ObjectSelector, checkSelector),
		each(path.Child("resourceRules"), match.ResourceRules, checkNamedRule),
		each(path.Child("excludeResourceRules"), match.ExcludeResourceRules, checkNamedRule),
	)
}

func checkSelector(path *field.Path, selector *metav1.LabelSelector) field.ErrorList {
	return metav1validation.ValidateLabelSelector(selector, metav1validation.LabelSelectorValidationOptions{}, path)
}
