// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package rulefunctions

import (
	"math"

	"github.com/google/cel-go/checker"
	"github.com/google/cel-go/common"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
	"github.com/google/cel-go/interpreter"
)

// longestText is the length of the longest texts of durations and quantities.
const longestText = 64

// A function describes the costs of an overload, which are linear in the sizes of its arguments.
type function struct {
	overload string
	// base and factor give the cost: base + factor * the size of all arguments.
	base, factor float64
	// size returns the size of the result for the sizes of the arguments, target first. Nil for numbers.
	size func(sizes []uint64) uint64
}

// functions are the overloads of this library, and those of cel-go that have no costs there.
var functions = func() []function {
	all := []function{
		{"map_merge_map", common.MapCreateBaseCost, 1, func(sizes []uint64) uint64 { return add(sizes[0], sizes[1]) }},
		{"map_set_key", common.MapCreateBaseCost, 1, func(sizes []uint64) uint64 { return add(sizes[0], 1) }},
		{"map_remove_key", common.MapCreateBaseCost, 1, func(sizes []uint64) uint64 { return sizes[0] }},
		{"map_remove_all", common.MapCreateBaseCost, 1, func(sizes []uint64) uint64 { return sizes[0] }},
		{"duration_to_text", 1, 0, func([]uint64) uint64 { return longestText }},
		{"quantity_to_text", 1, 0, func([]uint64) uint64 { return longestText }},
		{"quantity_get_milli", 1, 0, nil},
		{"base64_encode_bytes", 1, 2 * common.StringTraversalCostFactor, func(sizes []uint64) uint64 { return add(sizes[0]/3*4, 4) }},
		{"base64_decode_string", 1, 2 * common.StringTraversalCostFactor, func(sizes []uint64) uint64 { return sizes[0] }},
	}
	for _, extreme := range []string{"max", "min"} {
		for _, items := range []string{"double", "int", "uint"} {
			all = append(all, function{"math_@" + extreme + "_list_" + items, 1, 1, nil})
		}
	}
	return all
}()

func estimates() []checker.CostOption {
	options := make([]checker.CostOption, len(functions))
	for i, f := range functions {
		options[i] = checker.OverloadCostEstimate(f.overload, f.estimate)
	}
	return options
}

func trackers() []interpreter.CostTrackerOption {
	options := make([]interpreter.CostTrackerOption, len(functions))
	for i, f := range functions {
		options[i] = interpreter.OverloadCostTracker(f.overload, func(args []ref.Val, _ ref.Val) *uint64 {
			sizes := make([]uint64, len(args))
			for i, arg := range args {
				sizes[i] = sizeOf(arg)
			}
			cost := f.cost(sizes)
			return &cost
		})
	}
	return options
}

func (f *function) cost(sizes []uint64) uint64 {
	var total uint64
	for _, size := range sizes {
		total = add(total, size)
	}
	cost := math.Ceil(f.base + float64(total)*f.factor)
	if cost >= math.MaxUint64 {
		return math.MaxUint64
	}
	return uint64(cost)
}

func (f *function) estimate(estimator checker.CostEstimator, target *checker.AstNode, args []checker.AstNode) *checker.CallEstimate {
	if target != nil {
		args = append([]checker.AstNode{*target}, args...)
	}
	sizes := make([]uint64, len(args))
	for i, arg := range args {
		sizes[i] = estimateSize(estimator, arg)
	}
	estimate := &checker.CallEstimate{CostEstimate: checker.CostEstimate{Min: uint64(f.base), Max: f.cost(sizes)}}
	if f.size != nil {
		estimate.ResultSize = &checker.SizeEstimate{Max: f.size(sizes)}
	}
	return estimate
}

func estimateSize(estimator checker.CostEstimator, node checker.AstNode) uint64 {
	switch node.Type().Kind() {
	case types.MapKind, types.ListKind, types.StringKind, types.BytesKind, types.DynKind:
	default:
		return 1
	}
	if size := node.ComputedSize(); size != nil {
		return size.Max
	}
	if size := estimator.EstimateSize(node); size != nil {
		return size.Max
	}
	return math.MaxUint64
}

func sizeOf(v ref.Val) uint64 {
	switch v.(type) {
	case types.String, types.Bytes, traits.Mapper, traits.Lister:
		if n, ok := v.(traits.Sizer).Size().(types.Int); ok {
			return uint64(n)
		}
	}
	return 1
}

func add(a, b uint64) uint64 {
	if sum := a + b; sum >= a {
		return sum
	}
	return math.MaxUint64
}
