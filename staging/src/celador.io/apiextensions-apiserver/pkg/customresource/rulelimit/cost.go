// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package rulelimit

import (
	"fmt"

	"celador.io/admission/cel/schemaexpression"
)

// A Cost is an estimate of what rules cost for one object, in CEL cost units.
type Cost struct {
	// Typical is the highest cost for an object of the size rulelimit.Typical, and Large that for
	// an object of the size rulelimit.Large.
	Typical, Large float64
	// isBounded is set if Large is the same however large the object is, because the schema
	// declares limits.
	isBounded bool
}

// Estimate returns the cost of an expression for all values of self in one object. repetitions
// holds the declared limits of the lists and maps that self is in, outermost first; a negative
// number is no limit.
func Estimate(expression *schemaexpression.Expression, repetitions []int64) (cost Cost, err error) {
	if cost.Typical, err = estimate(expression, Typical, repetitions); err != nil {
		return Cost{}, err
	}
	if cost.Large, err = estimate(expression, Large, repetitions); err != nil {
		return Cost{}, err
	}
	double, err := estimate(expression, schemaexpression.ObjectSize{Entries: 2 * Large.Entries, Text: 2 * Large.Text}, repetitions)
	cost.isBounded = double < 1.5*cost.Large
	return cost, err
}

func estimate(expression *schemaexpression.Expression, size schemaexpression.ObjectSize, repetitions []int64) (float64, error) {
	cost, err := expression.MaxCost(size, repetitions...)
	return cost + MinEvaluationCost*size.Evaluations(repetitions), err
}

// Add returns the cost of two rules together. isBounded is not set in the sum.
func (c Cost) Add(other Cost) Cost {
	return Cost{Typical: c.Typical + other.Typical, Large: c.Large + other.Large}
}

// Exceeds reports whether an object of the size Typical may cost more than MaxObjectCost.
func (c Cost) Exceeds() bool { return c.Typical > MaxObjectCost }

// MayExceed reports whether a rule that is accepted deserves a warning, because it may cost more
// than MaxObjectCost for an object of the size Large: the rule has nested loops, so its cost grows
// faster than the object, or the schema declares limits, and they are too high. It is false for
// other rules, which exceed MaxObjectCost for some size anyway.
func (c Cost) MayExceed() bool {
	return !c.Exceeds() && c.Large > MaxObjectCost && (c.isBounded || c.Large > 2*growth*c.Typical)
}

// Excess returns the text of an error for rules that exceed MaxObjectCost: by which factor, for an
// object of which size, and how to make them cheaper. what names the rules, or their cost. Call it
// only if Exceeds returns true.
func (c Cost) Excess(what string) string {
	factor := c.Typical / MaxObjectCost
	text := fmt.Sprintf("%.1fx", factor)
	switch {
	case factor > 100:
		text = "more than 100x"
	case factor < 1.5:
		text = fmt.Sprintf("%.2fx", factor)
	}
	return fmt.Sprintf("%s exceeds budget by factor of %s for an object of %.0f KiB whose lists have %.0f items (try looping over fewer lists for each item of another one, "+
		"or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)", what, text, Typical.Text/1024, Typical.Entries)
}
