// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package typecheck

import (
	"slices"

	"celador.io/admission/cel/expression"
	"celador.io/admission/policyspec"
)

// fieldExpression is an expression of a policy and the field that holds it.
type fieldExpression struct {
	field, source string
	// parse parses the source when first called.
	parse func() (syntax, error)
	// variable is the name by which later expressions read the value.
	variable string
	// onlyIf are the indexes of conditions. If one is false, the value of this expression does not
	// matter. A match condition that is false exempts the request even if others fail, so match
	// conditions are among the conditions of all expressions, including each other.
	onlyIf []int
	// mixes is set if lists, maps and alternatives may have values of different types.
	mixes bool
	// declarations are the optional variables and types in scope. Params is not used, because
	// 'params' has the type of the params that are checked.
	declarations expression.Declarations
}

// expressionsOf returns the expressions of a policy in the order of its anatomy, in which a
// variable comes before the expressions that read it.
func expressionsOf(policy *policyspec.Anatomy) []fieldExpression {
	var matchConditions []int
	// mutationConditions holds the index of the condition of each mutation that has one.
	mutationConditions := map[int]int{}
	for i := range policy.Expressions {
		switch e := &policy.Expressions[i]; e.Role {
		case policyspec.MatchCondition:
			matchConditions = append(matchConditions, i)
		case policyspec.MutationCondition:
			mutationConditions[e.Index] = i
		}
	}
	expressions := make([]fieldExpression, len(policy.Expressions))
	for i := range policy.Expressions {
		e := &policy.Expressions[i]
		expressions[i] = fieldExpression{
			field: e.Path.String(), source: e.Source, onlyIf: matchConditions,
			mixes: policy.MixesTypes, declarations: e.Role.Declarations(false),
		}
		switch e.Role {
		case policyspec.Variable:
			expressions[i].variable = e.Name
		case policyspec.Patch:
			if condition, ok := mutationConditions[e.Index]; ok {
				expressions[i].onlyIf = append(slices.Clip(matchConditions), condition)
			}
		}
	}
	return expressions
}
