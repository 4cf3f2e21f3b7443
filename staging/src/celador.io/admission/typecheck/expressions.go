// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package typecheck

import (
	"slices"
	"sync"

	"celador.io/admission/policyspec"
)

// fieldExpression is an expression of a policy with what its check needs.
type fieldExpression struct {
	*policyspec.Expression
	// parse parses the source when first called.
	parse func() (syntax, error)
	// onlyIf holds the positions of conditions in the result of expressionsOf. If one of them is
	// false, the value of this expression does not matter. A match condition that is false exempts
	// the request even if others fail, so match conditions are among the conditions of all
	// expressions, including each other.
	onlyIf []int
	// mixes is set if lists, maps and alternatives may have values of different types.
	mixes bool
}

// expressionsOf returns the expressions of a policy in the order of its anatomy, in which a
// variable comes before the expressions that read it. The indexes of lookups, which come last in
// the anatomy, are left out: checkIndexes checks them.
func (c *Checker) expressionsOf(policy *policyspec.Anatomy) []fieldExpression {
	var matchConditions []int
	// mutationConditions maps the position of a mutation to the position of its condition in
	// policy.Expressions.
	mutationConditions := map[int]int{}
	for i := range policy.Expressions {
		switch e := &policy.Expressions[i]; e.Role {
		case policyspec.MatchCondition:
			matchConditions = append(matchConditions, i)
		case policyspec.MutationCondition:
			mutationConditions[e.Index] = i
		}
	}
	count := len(policy.Expressions)
	for count > 0 && policy.Expressions[count-1].Role == policyspec.Index {
		count--
	}
	expressions := make([]fieldExpression, count)
	for i := range expressions {
		e := &policy.Expressions[i]
		parse := sync.OnceValues(func() (syntax, error) { return c.parse(e.Source) })
		expressions[i] = fieldExpression{e, parse, matchConditions, policy.Mutates}
		if condition, ok := mutationConditions[e.Index]; ok && e.Role == policyspec.Patch {
			expressions[i].onlyIf = append(slices.Clip(matchConditions), condition)
		}
	}
	return expressions
}
