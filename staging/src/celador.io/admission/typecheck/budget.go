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
	// smallType is of how many types the type of a part of an expression may be made for free.
	// Larger types cost one for each of those: cel-go copies and compares them as trees, and
	// each .map(a, {a: a}) doubles them.
	smallType = 64
)

// budget bounds the time and the memory that the checks of a policy take: policies may be long
// and name many types, and each expression may not fit any of them.
type budget struct {
	// base is what the expressions cost for each type, and spent what the checks cost so far.
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

// charge takes the cost of a check against one type from the budget.
func (b *budget) charge(verdicts []verdict) {
	b.types++
	b.spent += b.base
	for i := range verdicts {
		b.spent += verdicts[i].cost
	}
}

// exhausted reports whether the next type would be one too many. The first is not, and others
// are taken to cost what those before them did.
func (b *budget) exhausted() bool {
	return b.types == maxPolicyTypes || b.types > 0 && b.spent+b.spent/b.types > maxCost
}

// typesCost returns what the types of an expression's parts cost, up to maxCost.
func typesCost(types map[int64]*cel.Type) int {
	cost := 0
	for _, t := range types {
		if size := sizeOf(t, maxCost-cost); size > smallType {
			cost += size
		}
	}
	return cost
}

// sizeOf returns of how many types a type is made, itself included. It stops at most.
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
