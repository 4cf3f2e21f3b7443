// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"slices"

	"k8s.io/apimachinery/pkg/api/validate/content"
	"k8s.io/apimachinery/pkg/util/validation/field"

	v1 "celador.io/api/admissionregistration/v1"
)

const wildcard = "*"

// checkNamedRule checks an entry of resourceRules or excludeResourceRules.
func checkNamedRule(path *field.Path, rule *v1.NamedRuleWithOperations) field.ErrorList {
	operations, versions := path.Child("operations"), path.Child("apiVersions")
	return slices.Concat(
		each(path.Child("resourceNames"), rule.ResourceNames, resourceName()),

		checkPatterns(operations, rule.Operations, "operations"),
		each(operations, rule.Operations, oneOf(v1.OperationAll, v1.Connect, v1.Create, v1.Delete, v1.Update).check),

		// A group may be empty, which names the core group.
		checkPatterns(path.Child("apiGroups"), rule.APIGroups, "API groups"),

		checkPatterns(versions, rule.APIVersions, "API versions"),
		each(versions, rule.APIVersions, notEmpty),

		checkResources(path.Child("resources"), rule.Resources),
		optional(path.Child("scope"), rule.Scope, oneOf(v1.AllScopes, v1.ClusterScope, v1.NamespacedScope).check),
	)
}

// resourceName returns a check for the object names of one rule. It rejects duplicates.
func resourceName() check[string] {
	unique := once[string]()
	return func(path *field.Path, name *string) field.ErrorList {
		return slices.Concat(
			invalid(path, *name, content.IsPathSegmentName(*name)...),
			unique(path, name),
		)
	}
}

// checkPatterns requires at least one value. The wildcard must be the only value.
func checkPatterns[T ~string](path *field.Path, patterns []T, what string) field.ErrorList {
	if len(patterns) == 0 {
		return missing(path, "")
	}
	return when(
		len(patterns) > 1 && slices.Contains(patterns, wildcard),
		field.Invalid(path, patterns, "if '*' is present, must not specify other "+what),
	)
}

func notEmpty(path *field.Path, value *string) field.ErrorList {
	return when(*value == "", field.Required(path, ""))
}
