// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"slices"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/validation/field"

	v1 "celador.io/api/admissionregistration/v1"
)

// maxLookups is the maximum number of lookups of a policy.
const maxLookups = 16

// checkLookups checks the lookups of a policy. If they are the stored ones, it returns the errors
// of their indexes only.
func checkLookups(path *field.Path, lookups, stored []v1.Lookup, expressions expressionErrors) field.ErrorList {
	kept := equality.Semantic.DeepEqual(lookups, stored)
	unique := once[string]()
	return append(
		when(!kept && len(lookups) > maxLookups, field.TooMany(path, len(lookups), maxLookups)),
		each(path, lookups, func(path *field.Path, lookup *v1.Lookup) field.ErrorList {
			indexErrors := expressions.take(path.Child("index"))
			if kept {
				return indexErrors
			}
			return slices.Concat(
				checkVariableName(path.Child("name"), lookup.Name),
				unique(path.Child("name"), &lookup.Name),
				checkAPIVersion(path.Child("apiVersion"), lookup.APIVersion),
				checkKind(path.Child("kind"), lookup.Kind),
				optional(path.Child("scope"), lookup.Scope, oneOf(v1.ClusterLookupScope, v1.NamespaceLookupScope).check),
				optional(path.Child("consistency"), lookup.Consistency, oneOf(v1.CachedLookupConsistency, v1.LatestLookupConsistency).check),
				indexErrors,
			)
		})...)
}
