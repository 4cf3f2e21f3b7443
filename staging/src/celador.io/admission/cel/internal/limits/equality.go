// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package limits

import (
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
	celmutation "k8s.io/apiserver/pkg/cel/mutation"

	"celador.io/admission/cel/values"
)

// Equality returns an error if comparing two values takes more steps than the series has left. It
// returns nil at once unless an expression constructed both values: the size of the request and of
// other input bounds all other comparisons.
func Equality(from MeterResolver, l, r ref.Val) error {
	if !isConstructed(l) || !isConstructed(r) || sizeOf(l) != sizeOf(r) {
		return nil
	}
	if steps, ok := stepsOf(l, smallList); ok && steps <= smallList {
		return nil
	}
	// Comparing two values takes no more steps than walking the smaller one.
	return meterOf(from).charge(
		func(limit int) (int, bool) { return stepsOf(l, limit) },
		func(limit int) (int, bool) { return stepsOf(r, limit) })
}

// isConstructed reports whether a value is a list, map or object that an expression constructed, as
// opposed to read from the request or another input.
func isConstructed(v ref.Val) bool {
	switch v := v.(type) {
	case types.String, types.Int, types.Bool, types.Null, types.Uint, types.Double, types.Bytes, types.Duration, types.Timestamp:
		return false
	case *types.Optional:
		return v.HasValue() && isConstructed(v.GetValue())
	case *celmutation.JSONPatchVal:
		return v.Val != nil && isConstructed(v.Val)
	case traits.Lister, traits.Mapper:
		return !values.IsGoData(v)
	default:
		return false
	}
}

// stepsOf returns the number of steps that it takes to walk a value: one for each value in it, and
// further ones for long texts. It returns false if the number exceeds limit.
func stepsOf(v ref.Val, limit int) (int, bool) {
	e := extent{goContent: true, maxElements: limit, maxText: limit * textPerStep}
	ok := e.add(v) && e.steps() <= limit
	return e.steps(), ok
}

// checkIn returns an error if 'value in list' takes more steps than the series has left. A lookup
// in a map takes constant time and has no limit.
func checkIn(from MeterResolver, value, in ref.Val) error {
	list, ok := in.(traits.Lister)
	if !ok {
		return nil
	}
	n := sizeOf(list)
	if n == 0 || n <= smallList && !isConstructed(value) {
		return nil
	}
	meter := meterOf(from)
	if !isConstructed(value) || values.IsGoData(list) {
		return meter.charge(func(int) (int, bool) { return n, true })
	}
	return meter.charge(
		func(limit int) (int, bool) { return stepsOf(list, limit) },
		func(limit int) (int, bool) {
			steps, ok := stepsOf(value, limit/n)
			return steps * n, ok
		})
}

// checkPairs returns an error if comparing each element of a list with the given number of other
// values takes more steps than the series has left.
func checkPairs(from MeterResolver, list ref.Val, others int) error {
	if steps, ok := pairs(list, others, smallList); ok && steps <= smallList {
		return nil
	}
	return meterOf(from).charge(func(limit int) (int, bool) { return pairs(list, others, limit) })
}

// pairs returns the number of steps of comparing each element of a list with the given number of
// other values. It returns false if the number exceeds limit. Elements of Go data count as one
// step: each occurs once, so their number and the size of the request bound the work.
func pairs(list ref.Val, others, limit int) (steps int, ok bool) {
	n := sizeOf(list)
	if n*others > limit {
		return 0, false
	}
	if n == 0 || others == 0 || values.IsGoData(list) {
		return n * others, true
	}
	steps, ok = stepsOf(list, limit/others)
	return steps * others, ok
}
