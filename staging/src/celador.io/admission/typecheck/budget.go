// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package typecheck

import (
	"fmt"

	"github.com/google/cel-go/cel"
)

const (
	// maxPolicyTypes is how many types of a policy are checked.
	maxPolicyTypes = 50
	// maxCost is what the checks of a policy may cost, each expression once for each type. It
	// takes some 5 kB of expressions for this to be less than maxPolicyTypes.
	maxCost = 512 << 10
	// baseCost is what the shortest expression costs. Others cost one a byte on top of that,
	// two a byte if they have longBytes, and so on: cel-go takes quadratic time.
	baseCost  = 100
	longBytes = 4096
	// smallType is the size, in types, up to which the type of a part of an expression costs
	// nothing. A larger type costs its size, because cel-go copies and compares types as trees,
	// and each .map(a, {a: a}) doubles the tree.
	smallType = 64
)

// budget bounds the time and the memory that checking one policy takes. A policy can be long,
// name many types, and have a type error in each expression for each type.
type budget struct {
	// base is the cost of the expressions for one type, spent the cost of all checks so far.
	base, spent int
	types       int
}

func newBudget(expressions []fieldExpression) *budget {
	b := &budget{base: 1}
	for i := range expressions {
		size := len(expressions[i].source)
		b.base += baseCost + size + size*size/longBytes
	}
	return b
}

// charge adds the cost of a check against one type.
func (b *budget) charge(verdicts []verdict) {
	b.types++
	b.spent += b.base
	for i := range verdicts {
		b.spent += verdicts[i].cost
	}
}

// exhausted reports whether checking another type could exceed the budget. It expects the next
// type to cost the average so far, and always allows the first.
func (b *budget) exhausted() bool {
	return b.types == maxPolicyTypes || b.types > 0 && b.spent+b.spent/b.types > maxCost
}

// typesCost returns the cost of the types of an expression's parts, at most about maxCost.
func typesCost(types map[int64]*cel.Type) int {
	cost := 0
	for _, t := range types {
		if size := sizeOf(t, maxCost-cost); size > smallType {
			cost += size
		}
	}
	return cost
}

// sizeOf returns the number of types that a type is made of, including itself. It stops
// counting at most.
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

func tooMuch(types int) error {
	return fmt.Errorf("no more than %d types of a policy with expressions of this size are checked", types)
}
