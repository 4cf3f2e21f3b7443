// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package rulefunctions

import (
	"math"

	"github.com/google/cel-go/common"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
	"github.com/google/cel-go/interpreter"
)

// A function describes the costs of an overload, which are linear in the sizes of its arguments.
type function struct {
	overload string
	// base and factor give the cost: base + factor * the size of all arguments.
	base, factor float64
}

// functions are the overloads of this library, and those of cel-go that have no costs there.
var functions = func() []function {
	all := []function{
		{"map_merge_map", common.MapCreateBaseCost, 1},
		{"map_set_key", common.MapCreateBaseCost, 1},
		{"map_remove_key", common.MapCreateBaseCost, 1},
		{"map_remove_all", common.MapCreateBaseCost, 1},
		{"duration_to_text", 1, 0},
		{"quantity_to_text", 1, 0},
		{"quantity_get_milli", 1, 0},
		{"base64_encode_bytes", 1, 2 * common.StringTraversalCostFactor},
		{"base64_decode_string", 1, 2 * common.StringTraversalCostFactor},
	}
	for _, extreme := range []string{"max", "min"} {
		for _, items := range []string{"double", "int", "uint"} {
			all = append(all, function{"math_@" + extreme + "_list_" + items, 1, 1})
		}
	}
	return all
}()

func trackers() []interpreter.CostTrackerOption {
	options := make([]interpreter.CostTrackerOption, len(functions))
	for i, f := range functions {
		options[i] = interpreter.OverloadCostTracker(f.overload, func(args []ref.Val, _ ref.Val) *uint64 {
			var total uint64
			for _, arg := range args {
				total += sizeOf(arg)
			}
			cost := uint64(math.Ceil(f.base + float64(total)*f.factor))
			return &cost
		})
	}
	return options
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
