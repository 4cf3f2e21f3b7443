// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package measure

import (
	"fmt"
	"math"
	"math/rand/v2"
)

// resamples is the number of samples that Bootstrap draws.
const resamples = 1000

// Unbounded is the ratio to something that is not above zero. It can be encoded as JSON, unlike
// infinity.
const Unbounded = math.MaxFloat64

// Samples holds measurements in blocks. What was measured in one stretch of time shares its noise
// and is one block.
type Samples [][]float64

// Percentile returns the p-th percentile of all measurements in the chosen blocks.
func (s Samples) Percentile(p float64, chosen []int) float64 {
	var values []float64
	for _, block := range chosen {
		values = append(values, s[block]...)
	}
	return Percentile(values, p)
}

// An Estimate is a statistic of measurements with its 95 % confidence interval.
type Estimate struct{ Value, Low, High float64 }

// Bootstrap estimates a statistic of measurements in blocks, of which there must be one or more. It
// draws as many of the blocks with replacement as there are, many times; the interval holds the
// statistic of 95 % of these draws. Equal arguments give equal results.
func Bootstrap(blocks int, statistic func(chosen []int) float64) Estimate {
	chosen := make([]int, blocks)
	for i := range chosen {
		chosen[i] = i
	}
	estimate := Estimate{Value: statistic(chosen)}
	random, values := rand.New(rand.NewPCG(1, 1)), make([]float64, resamples)
	for i := range values {
		for j := range chosen {
			chosen[j] = random.IntN(blocks)
		}
		values[i] = statistic(chosen)
	}
	estimate.Low, estimate.High = Percentile(values, 2.5), Percentile(values, 97.5)
	return estimate
}

// Format formats the interval with a function for single figures.
func (e Estimate) Format(figure func(float64) string) string {
	if e.High == Unbounded {
		return fmt.Sprintf("at least %s", figure(e.Low))
	}
	return fmt.Sprintf("%s to %s", figure(e.Low), figure(e.High))
}

// Ratio returns a / b. It returns 0 unless a is above zero, and otherwise Unbounded unless b is.
func Ratio(a, b float64) float64 {
	switch {
	case a <= 0:
		return 0
	case b <= 0:
		return Unbounded
	}
	return a / b
}
