// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package measure

import (
	"fmt"
	"math"
	"math/rand/v2"
)

// resamples is the number of samples that Bootstrap draws to compute the interval.
const resamples = 1000

// Unbounded stands for a ratio whose denominator is zero or less, as a difference in the noise may
// be. Unlike infinity, it can be encoded as JSON.
const Unbounded = math.MaxFloat64

// Samples holds measurements in blocks. The measurements of a block are taken close together in
// time, so the noise of the machine affects them alike. Bootstrap therefore draws whole blocks.
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

// Bootstrap estimates a statistic of measurements in blocks, such as their median, and its
// confidence interval. statistic computes it for the blocks whose indexes it gets. Bootstrap draws
// as many blocks as there are, with replacement, and computes the statistic of these, many times
// over. The interval contains 95 % of the results. Equal arguments give equal results.
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

// Format returns the interval as text. figure formats one of its ends.
func (e Estimate) Format(figure func(float64) string) string {
	if e.High == Unbounded {
		return fmt.Sprintf("at least %s", figure(e.Low))
	}
	return fmt.Sprintf("%s to %s", figure(e.Low), figure(e.High))
}

// Ratio returns a / b. If a is zero or less, it returns 0, and otherwise, if b is zero or less,
// Unbounded.
func Ratio(a, b float64) float64 {
	switch {
	case a <= 0:
		return 0
	case b <= 0:
		return Unbounded
	}
	return a / b
}
