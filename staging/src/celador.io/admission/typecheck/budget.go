// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package typecheck

import (
	"fmt"
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
)

// typesFor returns how many types expressions are checked against, which is one at least. It
// is what bounds the time and the memory that a check takes: policies may be long and name
// many types, and each expression may not fit any of them.
func typesFor(expressions []fieldExpression) int {
	cost := 1
	for i := range expressions {
		size := len(expressions[i].source)
		cost += baseCost + size + size*size/longBytes
	}
	return min(max(maxCost/cost, 1), maxPolicyTypes)
}

func tooMuch(types int) error {
	return fmt.Errorf("no more than %d types of a policy with expressions of this length are checked", types)
}
