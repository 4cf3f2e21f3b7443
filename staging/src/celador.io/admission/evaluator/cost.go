// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package evaluator

import (
	"math"
	"unicode/utf8"

	"github.com/google/cel-go/common"
	"github.com/google/cel-go/common/overloads"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
	"k8s.io/apiserver/pkg/cel/library"
)

// estimator knows what the functions of Kubernetes cost.
var estimator = &library.CostEstimator{}

// price returns what calls cost by their arguments and result, or nil if it is one unit.
func price(function, overload string) func(args []ref.Val, result ref.Val) uint64 {
	byOverload := prices[overload]
	if plainlyPriced[function] {
		return byOverload
	}
	return func(args []ref.Val, result ref.Val) uint64 {
		if cost := estimator.CallCost(function, overload, args, result); cost != nil {
			return *cost
		}
		if byOverload != nil {
			return byOverload(args, result)
		}
		return 1
	}
}

// prices are those of the standard functions that do not cost one unit.
var prices = map[string]func(args []ref.Val, result ref.Val) uint64{
	overloads.StartsWithString:    second,
	overloads.EndsWithString:      second,
	overloads.StringToBytes:       first,
	overloads.BytesToString:       first,
	overloads.ExtQuoteString:      first,
	overloads.ExtFormatString:     first,
	overloads.InList:              func(args []ref.Val, _ ref.Val) uint64 { return size(args[1]) },
	overloads.LessString:          shorter,
	overloads.LessEqualsString:    shorter,
	overloads.GreaterString:       shorter,
	overloads.GreaterEqualsString: shorter,
	overloads.LessBytes:           shorter,
	overloads.LessEqualsBytes:     shorter,
	overloads.GreaterBytes:        shorter,
	overloads.GreaterEqualsBytes:  shorter,
	overloads.AddString:           both,
	overloads.AddBytes:            both,
	overloads.Matches:             match,
	overloads.MatchesString:       match,
	overloads.ContainsString: func(args []ref.Val, _ ref.Val) uint64 {
		return traversal(size(args[0])) * traversal(size(args[1]))
	},
}

func first(args []ref.Val, _ ref.Val) uint64  { return traversal(size(args[0])) }
func second(args []ref.Val, _ ref.Val) uint64 { return traversal(size(args[1])) }
func both(args []ref.Val, _ ref.Val) uint64   { return traversal(size(args[0]) + size(args[1])) }

func shorter(args []ref.Val, _ ref.Val) uint64 {
	return traversal(min(size(args[0]), size(args[1])))
}

func match(args []ref.Val, _ ref.Val) uint64 {
	// An empty text is one character to the pattern.
	text := uint64(math.Ceil((1 + float64(size(args[0]))) * common.StringTraversalCostFactor))
	pattern := uint64(math.Ceil(float64(size(args[1])) * common.RegexStringLengthCostFactor))
	return text * pattern
}

// traversal is the cost of going through a text.
func traversal(characters uint64) uint64 {
	return uint64(math.Ceil(float64(characters) * common.StringTraversalCostFactor))
}

// length is the size of a text, without a value on the heap.
func length(text types.String) uint64 { return uint64(utf8.RuneCountInString(string(text))) }

// size is how many characters, elements or entries a value has; all else counts as one.
func size(value ref.Val) uint64 {
	if sized, ok := value.(traits.Sizer); ok {
		if n, ok := sized.Size().(types.Int); ok {
			return uint64(n)
		}
	}
	return 1
}
