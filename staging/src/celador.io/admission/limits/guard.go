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
)

// Guard bounds the calls of one function. The arguments that it examines are data, neither errors nor unknowns.
type Guard struct {
	// before examines the arguments; pair does where there always are two. Either may be nil.
	before func(from Source, args []ref.Val) error
	pair   func(from Source, l, r ref.Val) error
	// makes is whether results are counted.
	makes bool
}

// Before returns an error if the call must not be made.
func (g *Guard) Before(from Source, args []ref.Val) error {
	switch {
	case g.pair != nil:
		return g.pair(from, args[0], args[1])
	case g.before != nil:
		return g.before(from, args)
	default:
		return nil
	}
}

// BeforePair is Before for two arguments. It does not allocate for operators.
func (g *Guard) BeforePair(from Source, l, r ref.Val) error {
	if g.pair != nil {
		return g.pair(from, l, r)
	}
	return g.Before(from, []ref.Val{l, r})
}

// After returns an error if the result of the call exceeds what a series may make.
func (g *Guard) After(from Source, result ref.Val) error {
	if !g.makes {
		return nil
	}
	return made(from, result)
}

// Of returns the guard of a function, or nil for functions whose work and results are bounded by their cost or by the
// size of their arguments. Operators that compare have Equality.
func Of(function string) *Guard { return guards[function] }

var guards = map[string]*Guard{
	operators.Add:   {pair: sum},
	operators.In:    {pair: search},
	"includes":      {pair: found},
	"indexOf":       {before: foundAfter},
	"lastIndexOf":   {before: foundAfter},
	"sets.contains": {pair: contained(1)}, "sets.intersects": {pair: contained(1)}, "sets.equivalent": {pair: contained(2)},
	"distinct": {before: distinct},
	"sort":     {before: compared(sorting), makes: true}, "@sortByAssociatedKeys": {before: compared(sorting), makes: true},
	"isSorted": {before: compared(1)}, "sum": {before: compared(1)}, "min": {before: compared(1)}, "max": {before: compared(1)},
	"lists.range": {before: ranged, makes: true}, "slice": {makes: true}, "reverse": {makes: true}, "flatten": {before: flattened, makes: true},

	"join": {before: joined, makes: true}, "replace": {before: replaced, makes: true},
	"split": {before: parted, makes: true}, "format": {before: formatted, makes: true},
	"charAt": {makes: true}, "substring": {makes: true}, "trim": {makes: true}, "lowerAscii": {makes: true}, "upperAscii": {makes: true},
	"strings.quote": {makes: true}, "jsonpatch.escapeKey": {makes: true},
	overloads.TypeConvertString: {makes: true}, overloads.TypeConvertBytes: {makes: true},
	"getHost": {makes: true}, "getHostname": {makes: true}, "getEscapedPath": {makes: true}, "getQuery": {makes: true},

	overloads.Matches: {before: priced("find")}, "find": {before: priced("find")}, "findAll": {before: priced("findAll"), makes: true},
	"validate": {before: priced("validate")}, "fieldSelector": {before: priced("fieldSelector")}, "labelSelector": {before: priced("labelSelector")},

	"quantity": {before: quantity}, "isQuantity": {before: quantity},
}

var estimator = &library.CostEstimator{}

// priced examines functions whose cost is known from their arguments, but which Kubernetes charges after the call. The
// cost is calculated as that of the given function.
func priced(as string) func(Source, []ref.Val) error {
	return func(_ Source, args []ref.Val) error {
		if cost := estimator.CallCost(as, "", args, nil); cost != nil && *cost > celconfig.PerCallLimit {
			return errCost(as)
		}
		return nil
	}
}

// foundAfter examines functions that may have a position as their third argument.
func foundAfter(from Source, args []ref.Val) error { return found(from, args[0], args[1]) }

// found examines functions that look for a value in a list, or for a string in a string.
func found(from Source, in, value ref.Val) error {
	text, isText := in.(types.String)
	part, isPart := value.(types.String)
	if isText && isPart {
		if len(text)*len(part) <= lookAfter {
			return nil
		}
		return meterOf(from).step(findingSteps(string(text), string(part)))
	}
	// Its cost is that of going through all of the list.
	if err := each(from, in, 1); err != nil {
		return err
	}
	return search(from, value, in)
}

// findingSteps returns about how long it takes to compare a part with a text at every position: where the text has the
// beginning of the part, up to all of it.
func findingSteps(text, part string) int {
	beginning := part[:min(len(part), bytesPerElement)]
	const overlapping = bytesPerElement // which Count does not count
	return (len(text) + strings.Count(text, beginning)*overlapping*len(part)) / textPerStep
}

// contained examines functions that look for each element of a list in another, so many times. Kubernetes charges for
// every pair.
func contained(times int) func(Source, ref.Val, ref.Val) error {
	return func(from Source, l, r ref.Val) error {
		left, right := sizeOf(l), sizeOf(r)
		if left*right*times >= celconfig.PerCallLimit {
			return errCost("comparing sets")
		}
		meter := meterOf(from)
		if err := meter.Err(); err != nil {
			return err
		}
		steps, ok := pairs(l, right*times, meter.remaining())
		if !ok {
			// Comparisons end where either value does.
			if steps, ok = pairs(r, left*times, meter.remaining()); !ok {
				return meter.spend()
			}
		}
		return meter.step(steps)
	}
}

// distinct examines list.distinct(). Kubernetes charges for every pair twice.
func distinct(from Source, args []ref.Val) error {
	n := sizeOf(args[0])
	if 2*n*n >= celconfig.PerCallLimit {
		return errCost("distinct")
	}
	return each(from, args[0], n)
}

// sorting is at least how often sorting compares each element of a list: the binary logarithm of MaxElements.
const sorting = 24

// compared examines functions that compare each element of a list so many times.
func compared(times int) func(Source, []ref.Val) error {
	return func(from Source, args []ref.Val) error { return each(from, args[len(args)-1], times) }
}

// ranged examines lists.range(n).
func ranged(_ Source, args []ref.Val) error {
	if n, ok := args[0].(types.Int); ok && n > MaxElements {
		return errElements(int(n))
	}
	return nil
}

// flattened examines list.flatten() and list.flatten(depth).
func flattened(_ Source, args []ref.Val) error {
	depth := types.IntOne
	if len(args) > 1 {
		depth, _ = args[1].(types.Int)
	}
	if n := flatSize(args[0], depth, 0); n > MaxElements {
		return errElements(n)
	}
	return nil
}

// flatSize adds the size of a flattened list to n. It ends soon after n exceeds MaxElements.
func flatSize(v ref.Val, depth types.Int, n int) int {
	list, ok := v.(traits.Lister)
	if !ok || depth < 0 {
		return n + 1
	}
	size := sizeOf(list)
	if isOutside(list) || depth == 0 {
		return n + size
	}
	for i := range size {
		if n = flatSize(list.Get(types.Int(i)), depth-1, n); n > MaxElements {
			break
		}
	}
	return n
}

// Result returns an error if the result of an expression is too large to be converted, as to JSON.
func Result(v ref.Val) error {
	switch v.(type) {
	case types.Bool, types.String, types.Null, types.Int:
		return nil
	}
	e := extent{most: MaxResultElements, mostText: MaxText}
	fits := e.add(v)
	if fits && e.outside > fewOutside {
		e = extent{all: true, most: MaxResultElements, mostText: MaxText}
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

// fewOutside is how many parts from outside, such as the object of the request, a result has without their sizes being
// looked at.
const fewOutside = 4
