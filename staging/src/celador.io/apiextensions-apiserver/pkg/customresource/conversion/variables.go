// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package conversion

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"
	apiservercel "k8s.io/apiserver/pkg/cel"
	"k8s.io/apiserver/pkg/cel/environment"

	"celador.io/admission/cel/schemaexpression"
	v1 "celador.io/api/apiextensions/v1"

	"celador.io/apiextensions-apiserver/pkg/customresource/ruleerror"
	"celador.io/apiextensions-apiserver/pkg/customresource/rulelimit"
)

// declare checks the expression of a variable and declares the variable for the expressions that
// are checked afterwards. If the expression is invalid, the variable has the dynamic type, and
// declare returns the error.
func (e *edge) declare(variable *v1.ConversionVariable, origin environment.Type) (*schemaexpression.Expression, *problem) {
	// Variables are evaluated as rules for the whole object.
	whole := &compiledRule{source: e.from.source().schema, self: e.from.source().self}
	expression, p := e.compileAt(whole, "expression", variable.Expression, origin)
	e.shared.Declare(variable.Name, expression)
	return expression, p
}

const (
	// maxVariables bounds the variables of a converter.
	maxVariables = 100
	// maxNameLength bounds the names of variables and tables.
	maxNameLength = 63
)

type checkedVariable struct {
	name       string
	expression *schemaexpression.Expression
}

// checkVariables checks the variables of a converter and declares them for its rules. isStored
// reports whether the converter had a variable before the update.
func (c *checkedRules) checkVariables(variables []v1.ConversionVariable, isStored func(v1.ConversionVariable) bool) field.ErrorList {
	var errs field.ErrorList
	names := map[string]bool{}
	for i := range variables {
		if len(errs) >= maxErrors {
			break // Each error repeats a part of an expression.
		}
		variable, path := &variables[i], c.variablesPath.Index(i)
		invalid := checkName(path.Child("name"), variable.Name, names, "variable")
		errs = append(errs, invalid...)
		text := path.Child("expression")
		switch {
		case strings.TrimSpace(variable.Expression) == "":
			errs = append(errs, field.Required(text, "must be an expression"))
			continue
		case len(variable.Expression) > rulelimit.MaxRuleLength:
			errs = append(errs, field.TooLong(text, "", rulelimit.MaxRuleLength))
			continue
		case len(invalid) > 0:
			continue
		}
		origin := environment.NewExpressions
		if isStored(*variable) {
			origin = environment.StoredExpressions
		}
		expression, problem := c.edge.declare(variable, origin)
		if problem != nil {
			errs = append(errs, field.Invalid(text, ruleerror.Abbreviate(variable.Expression), problem.detail))
			continue
		}
		c.variables = append(c.variables, checkedVariable{variable.Name, expression})
		errs = append(errs, c.estimate(text, "estimated cost of the variable", nil, nil, expression)...)
	}
	return errs
}

// checkName checks the name of a variable or table, and adds a valid one to seen, which holds the
// names before it. what is "variable" or "table", for errors.
func checkName(path *field.Path, name string, seen map[string]bool, what string) field.ErrorList {
	// Expressions would have to escape other names.
	escaped, ok := apiservercel.Escape(name)
	switch {
	case name == "":
		return field.ErrorList{field.Required(path, "must be the name of the "+what)}
	case !ok || escaped != name || len(name) > maxNameLength:
		return field.ErrorList{field.Invalid(path, ruleerror.Abbreviate(name), fmt.Sprintf("must be a CEL identifier of at most %d characters, not a word of CEL, and without two underscores in succession", maxNameLength))}
	case seen[name]:
		return field.ErrorList{field.Duplicate(path, name)}
	}
	seen[name] = true
	return nil
}

// unread returns a warning for each variable that neither a rule nor a variable reads.
func (c *checkedRules) unread() []string {
	var warnings []string
	for i, variable := range c.variables {
		reads := func(x *schemaexpression.Expression) bool { return x.ReadsShared(variable.name) }
		if !slices.ContainsFunc(c.rules, func(r *compiledRule) bool { return reads(r.expression) }) &&
			!slices.ContainsFunc(c.variables[i+1:], func(v checkedVariable) bool { return reads(v.expression) }) {
			warnings = append(warnings, fmt.Sprintf("%s has no effect: no rule reads variables.%s", c.variablesPath.Index(i), variable.name))
		}
	}
	return warnings
}
