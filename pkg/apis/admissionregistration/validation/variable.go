// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	v1 "celador.io/api/admissionregistration/v1"
)

// checkVariable also declares the variable for the expressions after it, even one
// with errors: they shall not complain about an unknown variable on top.
func (s *scope) checkVariable(path *field.Path, variable *v1.Variable) field.ErrorList {
	return slices.Concat(
		checkVariableName(path.Child("name"), variable.Name),
		s.declareVariable(path.Child("expression"), variable),
	)
}

func checkVariableName(path *field.Path, name string) field.ErrorList {
	switch {
	case strings.TrimSpace(name) == "":
		return missing(path, "name is not specified")
	case !isIdentifier(name):
		return invalid(path, name, "must be a valid CEL identifier")
	}
	return nil
}

func (s *scope) declareVariable(path *field.Path, variable *v1.Variable) field.ErrorList {
	if strings.TrimSpace(variable.Expression) == "" {
		return missing(path, "expression is not specified")
	}
	_, err := s.variables.Declare(variable.Name, variable.Expression, s.declarations(), s.origin(variable.Expression))
	return compileError(path, variable.Expression, err)
}
