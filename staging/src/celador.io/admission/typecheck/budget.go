// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package typecheck

import (
	"fmt"

	"github.com/google/cel-go/cel"
)

const (
	// maxPolicyTypes limits the number of types that a policy is checked against.
	maxPolicyTypes = 50
	// maxCost limits the cost of checking a policy, each expression once for each type. It is
	// stricter than maxPolicyTypes only for policies with more than about 5 kB of expressions.
	maxCost = 512 << 10
	// baseCost is the cost of an empty expression. Each byte adds a cost of 1, and 1 more for each
	// longBytes bytes that the expression has, because cel-go takes quadratic time.
	baseCost  = 100
	longBytes = 4096
	// smallType is the size up to which the type of a subexpression costs nothing. A larger type
	// costs its size, because cel-go copies and compares types as trees, and each .map(a, {a: a})
	// doubles the tree.
	smallType = 64
)

// budget bounds the time and the memory of checking one policy. Its costs are those of the
// constants above, not CEL costs. A policy may have long expressions, and each is checked once for
// each of the types that the policy matches.
type budget struct {
	// base is the cost of the lengths of all expressions, which is charged for each type. spent is
	// the cost of all checks so far.
	base, spent int
	// types is the number of types checked.
	types int
	// limit is the limit of the cost. If it is lower than maxCost, because of Checker.Within, it
	// holds for the first type as well.
	limit int
}

func newBudget(expressions []fieldExpression, limit int) *budget {
	b := &budget{base: 1, limit: limit}
	for i := range expressions {
		size := len(expressions[i].Source)
		b.base += baseCost + size + size*size/longBytes
	}
	return b
}

// charge adds the cost of a check against one type.
func (b *budget) charge(assessments []assessment) {
	b.types++
	b.spent += b.base
	for i := range assessments {
		b.spent += assessments[i].cost
	}
}

// exhausted reports whether checking another type is expected to exceed the budget. The expected
// cost of a type is the average so far. The first type is always allowed, unless the limit is lower
// than maxCost.
func (b *budget) exhausted() bool {
	if b.types == 0 {
		return b.limit < maxCost && b.base > b.limit
	}
	return b.types == maxPolicyTypes || b.spent+b.spent/b.types > b.limit
}

// typesCost returns the cost of the types of an expression's subexpressions, at most about maxCost.
func typesCost(types map[int64]*cel.Type) int {
	cost := 0
	for _, t := range types {
		if size := sizeOf(t, maxCost-cost); size > smallType {
			cost += size
		}
	}
	return cost
}

// sizeOf returns the number of types in the tree of t. It stops counting at about most.
func sizeOf(t *cel.Type, most int) int {
	size := 1
	for _, parameter := range t.Parameters() {
		if size >= most {
			break
		}
		size += sizeOf(parameter, most-size)
	}
	return size
}

func (b *budget) err() error {
	return fmt.Errorf("no more than %d types of a policy with expressions of this size are checked", b.types)
}
