// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package limits

import (
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
	celmutation "k8s.io/apiserver/pkg/cel/mutation"
)

// Equality returns an error if comparing two values takes more steps than the series has left.
// It returns nil at once unless an expression constructed both values: data from outside of
// expressions, such as the request, bounds the comparison by its own size.
func Equality(from Source, l, r ref.Val) error {
	if !isMade(l) || !isMade(r) || sizeOf(l) != sizeOf(r) {
		return nil
	}
	if steps, ok := stepsOf(l, smallList); ok && steps <= smallList {
		return nil
	}
	meter := meterOf(from)
	if err := meter.Err(); err != nil {
		return err
	}
	steps, ok := stepsOf(l, meter.remaining())
	if !ok && l != r {
		// A comparison ends where the smaller value does.
		steps, ok = stepsOf(r, meter.remaining())
	}
	if !ok {
		return meter.exceedSteps()
	}
	return meter.step(steps)
}

// isMade reports whether an expression constructed a list, map or object, as opposed to reading
// it from an input.
func isMade(v ref.Val) bool {
	switch v := v.(type) {
	case types.String, types.Int, types.Bool, types.Null, types.Uint, types.Double, types.Bytes, types.Duration, types.Timestamp:
		return false
	case *types.Optional:
		return v.HasValue() && isMade(v.GetValue())
	case *celmutation.JSONPatchVal:
		return v.Val != nil && isMade(v.Val)
	case traits.Lister, traits.Mapper:
		return !isGoData(v)
	default:
		return false
	}
}

// stepsOf returns how many steps it takes to walk a value, and false if that is more than most.
func stepsOf(v ref.Val, most int) (int, bool) {
	e := extent{all: true, most: most, mostText: most * textPerStep}
	ok := e.add(v) && e.steps() <= most
	return e.steps(), ok
}

// checkSearch checks value in list. A lookup in a map is not limited, because it takes constant
// time.
func checkSearch(from Source, value, in ref.Val) error {
	list, ok := in.(traits.Lister)
	if !ok {
		return nil
	}
	n := sizeOf(list)
	if n <= smallList && !isMade(value) {
		return nil
	}
	meter := meterOf(from)
	if err := meter.Err(); err != nil {
		return err
	}
	if !isMade(value) || isGoData(list) {
		return meter.step(n)
	}
	steps, ok := stepsOf(list, meter.remaining())
	if !ok {
		if steps, ok = stepsOf(value, meter.remaining()/n); !ok {
			return meter.exceedSteps()
		}
		steps *= n
	}
	return meter.step(steps)
}

// checkEach returns an error if comparing each element of a list with the given number of other
// values takes more steps than the series has left.
func checkEach(from Source, list ref.Val, others int) error {
	if steps, ok := pairs(list, others, smallList); ok && steps <= smallList {
		return nil
	}
	meter := meterOf(from)
	if err := meter.Err(); err != nil {
		return err
	}
	steps, ok := pairs(list, others, meter.remaining())
	if !ok {
		return meter.exceedSteps()
	}
	return meter.step(steps)
}

// pairs returns how many steps it takes to compare each element of a list with the given number
// of other values, and false if that is more than most. Elements of Go data count as one: each
// occurs once, so their number and the size of the request bound the work.
func pairs(list ref.Val, others, most int) (steps int, ok bool) {
	n := sizeOf(list)
	if n*others > most {
		return 0, false
	}
	if n == 0 || others == 0 || isGoData(list) {
		return n * others, true
	}
	steps, ok = stepsOf(list, most/others)
	return steps * others, ok
}
