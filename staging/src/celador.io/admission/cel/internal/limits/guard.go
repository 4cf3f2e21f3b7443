// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package limits

import (
	"strings"

	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/overloads"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/apiserver/pkg/cel/library"

	"celador.io/admission/cel/values"
)

// A Guard bounds the work of one function: it checks the arguments before a call and counts the
// result after it. The arguments must be values, neither errors nor unknowns. Guards are immutable
// and safe for concurrent use, but the meter in which they count belongs to one series.
type Guard struct {
	// before checks the arguments of a call. pair does so for functions with exactly two arguments.
	// At most one of them is set.
	before func(from MeterResolver, args []ref.Val) error
	pair   func(from MeterResolver, l, r ref.Val) error
	// countsResult is set if the size of the result counts towards MaxAllocated.
	countsResult bool
}

// Before returns an error if the call would exceed a limit. It is called before the function.
func (g *Guard) Before(from MeterResolver, args []ref.Val) error {
	switch {
	case g.pair != nil:
		return g.pair(from, args[0], args[1])
	case g.before != nil:
		return g.before(from, args)
	default:
		return nil
	}
}

// BeforePair is Before for a call with two arguments. It does not allocate for guards of operators.
func (g *Guard) BeforePair(from MeterResolver, l, r ref.Val) error {
	if g.pair != nil {
		return g.pair(from, l, r)
	}
	return g.Before(from, []ref.Val{l, r})
}

// After counts the result of a call. It returns an error if the series has then constructed more
// than MaxAllocated bytes.
func (g *Guard) After(from MeterResolver, result ref.Val) error {
	if !g.countsResult {
		return nil
	}
	return countResult(from, result)
}

// Of returns the guard of a function, which keeps calls of the function from exceeding the limits
// of this package. It returns nil for functions that need no guard: the cost limit or the size of
// the arguments bounds their work and their result. It also returns nil for == and !=, which
// Equality checks.
func Of(function string) *Guard { return guards[function] }

var guards = map[string]*Guard{
	operators.Add:   {pair: checkSum},
	operators.In:    {pair: checkIn},
	"includes":      {pair: checkFind},
	"indexOf":       {before: checkIndexOf},
	"lastIndexOf":   {before: checkIndexOf},
	"sets.contains": {pair: checkSets(1)}, "sets.intersects": {pair: checkSets(1)}, "sets.equivalent": {pair: checkSets(2)},
	"distinct": {before: checkDistinct},
	"sort":     {before: checkComparisons(comparisonsPerElement), countsResult: true}, "@sortByAssociatedKeys": {before: checkComparisons(comparisonsPerElement), countsResult: true},
	"isSorted": {before: checkComparisons(1)}, "sum": {before: checkComparisons(1)}, "min": {before: checkComparisons(1)}, "max": {before: checkComparisons(1)},
	"lists.range": {before: checkRange, countsResult: true}, "slice": {countsResult: true}, "reverse": {countsResult: true}, "flatten": {before: checkFlatten, countsResult: true},

	"join": {before: checkJoin, countsResult: true}, "replace": {before: checkReplace, countsResult: true},
	"split": {before: checkSplit, countsResult: true}, "format": {before: checkFormat, countsResult: true},
	"charAt": {countsResult: true}, "substring": {countsResult: true}, "trim": {countsResult: true}, "lowerAscii": {countsResult: true}, "upperAscii": {countsResult: true},
	"strings.quote": {countsResult: true}, "jsonpatch.escapeKey": {countsResult: true},
	overloads.TypeConvertString: {countsResult: true}, overloads.TypeConvertBytes: {countsResult: true},
	"getHost": {countsResult: true}, "getHostname": {countsResult: true}, "getEscapedPath": {countsResult: true}, "getQuery": {countsResult: true},

	overloads.Matches: {before: checkCost("find")}, "find": {before: checkCost("find")}, "findAll": {before: checkCost("findAll"), countsResult: true},
	"validate": {before: checkCost("validate")}, "fieldSelector": {before: checkCost("fieldSelector")}, "labelSelector": {before: checkCost("labelSelector")},

	"regex.extract": {before: checkCost("find")}, "regex.extractAll": {before: checkCost("find"), countsResult: true}, "regex.replace": {before: checkRegexReplace, countsResult: true},
	"base64.encode": {countsResult: true}, "base64.decode": {countsResult: true},
	"merge": {countsResult: true}, "set": {countsResult: true}, "remove": {countsResult: true}, "removeAll": {countsResult: true},

	"quantity": {before: checkQuantity}, "isQuantity": {before: checkQuantity},
}

var estimator = &library.CostEstimator{}

// checkCost returns a check for functions whose cost follows from their arguments. The check
// returns an error if that cost alone exceeds the cost limit, because Kubernetes charges it only
// after the call has done the work. as names the function whose cost formula applies, such as find
// for matches.
func checkCost(as string) func(MeterResolver, []ref.Val) error {
	return func(from MeterResolver, args []ref.Val) error {
		cost := estimator.CallCost(as, "", args, nil)
		if cost == nil || *cost <= celconfig.PerCallLimit {
			return nil
		}
		if limit := meterOf(from).MaxCost(); *cost > limit {
			return errCost(as, limit)
		}
		return nil
	}
}

// checkIndexOf is checkFind for indexOf(part, offset) and lastIndexOf(part, offset), whose offset
// is optional.
func checkIndexOf(from MeterResolver, args []ref.Val) error { return checkFind(from, args[0], args[1]) }

// checkFind returns an error if searching a list for a value, or a string for a substring, takes
// more steps than the series has left.
func checkFind(from MeterResolver, in, value ref.Val) error {
	text, isText := in.(types.String)
	part, isPart := value.(types.String)
	if isText && isPart {
		if len(text)*len(part) <= checkDoneAfter {
			return nil
		}
		return meterOf(from).step(searchSteps(string(text), string(part)))
	}
	// list.indexOf() always walks the whole list.
	if err := checkPairs(from, in, 1); err != nil {
		return err
	}
	return checkIn(from, value, in)
}

// searchSteps estimates the steps of searching a text for a part. The search compares the part at
// every position of the text that matches the beginning of the part.
func searchSteps(text, part string) int {
	beginning := part[:min(len(part), bytesPerElement)]
	const overlapping = bytesPerElement // strings.Count skips overlapping matches
	return (len(text) + strings.Count(text, beginning)*overlapping*len(part)) / textPerStep
}

// checkSets returns a check for functions that look up each element of one list in another the
// given number of times. The check returns an error if that exceeds the cost limit, as Kubernetes
// charges for every pair of elements, or takes more comparisons than the series has left of
// MaxSteps.
func checkSets(times int) func(MeterResolver, ref.Val, ref.Val) error {
	return func(from MeterResolver, l, r ref.Val) error {
		left, right := sizeOf(l), sizeOf(r)
		meter := meterOf(from)
		if limit := meter.MaxCost(); uint64(left*right*times) >= limit {
			return errCost("comparing sets", limit)
		}
		// Comparing two values takes no more steps than walking the smaller one.
		return meter.charge(
			func(limit int) (int, bool) { return pairs(l, right*times, limit) },
			func(limit int) (int, bool) { return pairs(r, left*times, limit) })
	}
}

// checkDistinct returns an error if list.distinct() exceeds the cost limit, as Kubernetes charges
// for every pair of elements twice, or takes more steps than the series has left.
func checkDistinct(from MeterResolver, args []ref.Val) error {
	n := sizeOf(args[0])
	if limit := meterOf(from).MaxCost(); uint64(2*n*n) >= limit {
		return errCost("distinct", limit)
	}
	return checkPairs(from, args[0], n)
}

// comparisonsPerElement is an upper bound of the comparisons per element when a list is sorted: the
// binary logarithm of MaxElements is 22.
const comparisonsPerElement = 24

// checkComparisons returns a check for functions that compare each element of a list the given
// number of times. The check returns an error if that takes more steps than the series has left.
func checkComparisons(times int) func(MeterResolver, []ref.Val) error {
	return func(from MeterResolver, args []ref.Val) error { return checkPairs(from, args[len(args)-1], times) }
}

// checkRange returns an error if lists.range(n) would return more than MaxElements elements.
func checkRange(_ MeterResolver, args []ref.Val) error {
	if n, ok := args[0].(types.Int); ok && n > MaxElements {
		return errElements(int(n))
	}
	return nil
}

// checkFlatten returns an error if list.flatten() or list.flatten(depth) would return more than
// MaxElements elements.
func checkFlatten(_ MeterResolver, args []ref.Val) error {
	depth := types.IntOne
	if len(args) > 1 {
		depth, _ = args[1].(types.Int)
	}
	if n := flatSize(args[0], depth, 0); n > MaxElements {
		return errElements(n)
	}
	return nil
}

// flatSize adds the size of the flattened list v to n. It stops soon after n exceeds
// MaxElements.
func flatSize(v ref.Val, depth types.Int, n int) int {
	list, ok := v.(traits.Lister)
	if !ok || depth < 0 {
		return n + 1
	}
	size := sizeOf(list)
	if values.IsGoData(list) || depth == 0 {
		return n + size
	}
	for i := range size {
		if n = flatSize(list.Get(types.Int(i)), depth-1, n); n > MaxElements {
			break
		}
	}
	return n
}

// Result returns an error if the result of an expression is too large to convert to JSON: it
// exceeds MaxResultElements or MaxText. A part that occurs several times in the result counts each
// time. The content of Go values, such as the object of the request, counts only if the result
// contains more than four of them.
func Result(v ref.Val) error {
	switch v.(type) {
	case types.Bool, types.String, types.Null, types.Int:
		return nil
	}
	e := extent{maxElements: MaxResultElements, maxText: MaxText}
	fits := e.add(v)
	if fits && e.goParts > maxUnmeasuredGoParts {
		e = extent{goContent: true, maxElements: MaxResultElements, maxText: MaxText}
		fits = e.add(v)
	}
	switch {
	case fits:
		return nil
	case e.text > MaxText:
		return errText(e.text)
	default:
		return exceeded("values in the result", e.elements, MaxResultElements, "values that occur in several places count in each of them")
	}
}

// maxUnmeasuredGoParts is the maximum number of Go values in a result, such as the object of the
// request, whose content Result does not measure.
const maxUnmeasuredGoParts = 4
