// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"slices"

	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	v1 "celador.io/api/admissionregistration/v1"
)

// maxMatchConditions is the maximum number of match conditions (KEP-3716).
const maxMatchConditions = 64

func checkMatchConditions(path *field.Path, conditions []v1.MatchCondition, expressions expressionErrors) field.ErrorList {
	if expressions.sameConditions {
		return nil
	}
	unique := once[string]()
	return slices.Concat(
		when(len(conditions) > maxMatchConditions, field.TooMany(path, len(conditions), maxMatchConditions)),
		each(path, conditions, func(path *field.Path, condition *v1.MatchCondition) field.ErrorList {
			return slices.Concat(
				expressions.take(path.Child("expression")),
				checkConditionName(path.Child("name"), condition.Name, unique),
			)
		}),
	)
}

func checkConditionName(path *field.Path, name string, unique check[string]) field.ErrorList {
	if name == "" {
		return missing(path, "")
	}
	return slices.Concat(
		invalid(path, name, validation.IsQualifiedName(name)...),
		unique(path, &name),
	)
}
