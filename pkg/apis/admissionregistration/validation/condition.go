// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"slices"
	"strings"

	"github.com/google/cel-go/cel"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	v1 "celador.io/api/admissionregistration/v1"
)

// maxMatchConditions is the limit of KEP-3716.
const maxMatchConditions = 64

func (s *scope) checkMatchConditions(path *field.Path, conditions []v1.MatchCondition) field.ErrorList {
	unique := once[string]()
	return slices.Concat(
		when(len(conditions) > maxMatchConditions, field.TooMany(path, len(conditions), maxMatchConditions)),
		each(path, conditions, func(path *field.Path, condition *v1.MatchCondition) field.ErrorList {
			return slices.Concat(
				s.checkPredicate(path.Child("expression"), condition.Expression),
				checkConditionName(path.Child("name"), condition.Name, unique),
			)
		}),
	)
}

// checkPredicate compiles the expression without surrounding space, so columns
// in its errors count from the first character that is none.
func (s *scope) checkPredicate(path *field.Path, source string) field.ErrorList {
	trimmed := strings.TrimSpace(source)
	if trimmed == "" {
		return missing(path, "")
	}
	_, err := s.plain.Compile(trimmed, s.declarations(), s.origin(source), cel.BoolType)
	return compileError(path, trimmed, err)
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
