// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package evaluator

import (
	"math"
	"unicode/utf8"

	"github.com/google/cel-go/common"
	"github.com/google/cel-go/common/overloads"
	"github.com/google/cel-go/common/stdlib"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apiserver/pkg/cel/library"
)

// estimator returns the costs of Kubernetes' CEL functions.
var estimator = &library.CostEstimator{}

// standardCost holds the functions whose cost cel-go defines itself: those of CEL's specification.
var standardCost = func() sets.Set[string] {
	names := sets.New[string]()
	for _, function := range stdlib.Functions() {
		names.Insert(function.Name())
	}
	return names
}()

// estimatedCost holds functions whose cost is known from their arguments and result, by Kubernetes'
// estimator or by overloadCosts. It need not be complete: for functions that it lacks, trackers let
// cel-go count the cost, which takes longer.
var estimatedCost = sets.New(
	"optional.of", "optional.ofNonZeroValue", "value", "hasValue",
	"cel.@mapInsert", // of transformMap and transformMapEntry

	"find", "findAll", "charAt", "indexOf", "join", "lastIndexOf", "lowerAscii", "replace", "split", "substring", "trim", "upperAscii", "format",

	"isSorted", "sum", "max", "min", "includes", "first", "last",
	"math.abs", "math.ceil", "math.floor", "math.round", "math.trunc", "math.sign", "math.sqrt", "math.isNaN", "math.isInf", "math.isFinite",
	"math.bitAnd", "math.bitOr", "math.bitXor", "math.bitNot", "math.bitShiftLeft", "math.bitShiftRight",
	"url", "isURL", "getScheme", "getHost", "getHostname", "getPort", "getEscapedPath", "getQuery",
	"quantity", "isQuantity", "sign", "isInteger", "asInteger", "asApproximateFloat", "isGreaterThan", "isLessThan",
	"compareTo", "add", "sub",
	"semver", "isSemver", "major", "minor", "patch",
	"ip", "isIP", "ip.isCanonical", "family", "isUnspecified", "isLoopback", "isLinkLocalMulticast", "isLinkLocalUnicast",
	"isGlobalUnicast", "cidr", "isCIDR", "containsIP", "containsCIDR", "masked", "prefixLength",
	"path", "group", "serviceAccount", "resource", "subresource", "namespace", "name", "check", "fieldSelector",
	"labelSelector", "allowed", "reason", "error", "errored",
)

// A costFunc returns the cost of a call from its arguments and its result.
type costFunc func(args []ref.Val, result ref.Val) uint64

// costOf returns the cost function of a call with n arguments, or nil if each call costs one unit.
// overload is empty if the checker left several candidates. It returns an error if cel-go cannot
// plan the call.
func (l *Library) costOf(function, overload string, n int) (costFunc, error) {
	byOverload := overloadCosts[overload]
	switch {
	case standardCost.Has(function):
		return byOverload, nil
	case !estimatedCost.Has(function):
		return l.trackers.cost(trackedCall{function, overload, n})
	}
	return func(args []ref.Val, result ref.Val) uint64 {
		if cost := estimator.CallCost(function, overload, args, result); cost != nil {
			return *cost
		}
		if byOverload != nil {
			return byOverload(args, result)
		}
		return 1
	}, nil
}

// overloadCosts holds the costs of cel-go's standard overloads that do not cost one unit.
var overloadCosts = map[string]costFunc{
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
	// cel-go counts one character more, so that an empty string is not free.
	text := uint64(math.Ceil((1 + float64(size(args[0]))) * common.StringTraversalCostFactor))
	pattern := uint64(math.Ceil(float64(size(args[1])) * common.RegexStringLengthCostFactor))
	return text * pattern
}

// traversal is the cost of reading a string of the given length.
func traversal(characters uint64) uint64 {
	return uint64(math.Ceil(float64(characters) * common.StringTraversalCostFactor))
}

// length is size for strings. It does not allocate.
func length(text types.String) uint64 { return uint64(utf8.RuneCountInString(string(text))) }

// size returns the number of characters, elements or entries of a value or of what an optional
// holds, and 1 for values without a size.
func size(value ref.Val) uint64 {
	if sized, ok := value.(traits.Sizer); ok {
		if n, ok := sized.Size().(types.Int); ok {
			return uint64(n)
		}
	}
	if optional, ok := value.(*types.Optional); ok && optional.HasValue() {
		return size(optional.GetValue())
	}
	return 1
}
