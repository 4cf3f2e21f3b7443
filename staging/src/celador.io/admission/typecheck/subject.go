// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package typecheck

import (
	"slices"

	v1 "celador.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// subject is what is checked of a policy, whatever its kind.
type subject struct {
	constraints *v1.MatchResources
	paramKind   *v1.ParamKind
	// expressions are in the order in which a request has them evaluated.
	expressions []fieldExpression
	// conditions are the indexes of the match conditions.
	conditions []int
	// mixes is set when the lists, maps and alternatives of expressions may have values of
	// different types.
	mixes bool
}

// fieldExpression is an expression and the field that holds it.
type fieldExpression struct {
	field, source string
	// parse parses the source when first called.
	parse func() (syntax, error)
	// variable is the name by which the expressions after this one read its value.
	variable string
	// onlyIf are the indexes of conditions. If one is false, nothing comes of this.
	onlyIf []int
	mixes  bool
	declarations
}

// declarations are what not all expressions have in scope.
type declarations struct {
	// authorizer puts 'authorizer' in scope, and 'authorizer.requestResource'.
	authorizer bool
	// patches puts the types of mutations in scope, and jsonpatch.escapeKey.
	patches bool
}

var withAuthorizer = declarations{authorizer: true}

// add puts an expression last and returns its index.
func (s *subject) add(path *field.Path, e fieldExpression) int {
	e.field = path.String()
	e.onlyIf = append(slices.Clip(s.conditions), e.onlyIf...)
	e.mixes = s.mixes
	s.expressions = append(s.expressions, e)
	return len(s.expressions) - 1
}

// addConditions adds match conditions. One that is false decides, even if others fail.
func (s *subject) addConditions(path *field.Path, conditions []v1.MatchCondition) {
	for i, condition := range conditions {
		s.conditions = append(s.conditions, i)
		s.add(path.Index(i).Child("expression"), fieldExpression{source: condition.Expression, declarations: withAuthorizer})
	}
	for i := range s.expressions {
		s.expressions[i].onlyIf = s.conditions
	}
}

func (s *subject) addVariables(path *field.Path, variables []v1.Variable) {
	for i, variable := range variables {
		s.add(path.Index(i).Child("expression"), fieldExpression{source: variable.Expression, variable: variable.Name, declarations: withAuthorizer})
	}
}
