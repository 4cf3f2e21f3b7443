// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package measure_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"celador.io/celador/test/benchmark/measure"
)

// normal returns blocks of normally distributed measurements.
func normal(seed uint64, blocks, each int, mean, deviation float64) measure.Samples {
	random, samples := rand.New(rand.NewPCG(seed, 0)), make(measure.Samples, blocks)
	for i := range samples {
		for range each {
			samples[i] = append(samples[i], mean+deviation*random.NormFloat64())
		}
	}
	return samples
}

func TestSamplesPercentile(t *testing.T) {
	samples := measure.Samples{{1, 2}, {10, 20}, {5}}
	for _, test := range []struct {
		chosen []int
		want   float64
	}{
		{[]int{0, 1, 2}, 5},
		{[]int{1, 1, 2}, 10},
		{[]int{0}, 1},
	} {
		if got := samples.Percentile(50, test.chosen); got != test.want {
			t.Errorf("median of blocks %v is %v, want %v", test.chosen, got, test.want)
		}
	}
	if samples[1][0] != 10 {
		t.Error("the measurements have changed")
	}
}

func TestBootstrapOfConstant(t *testing.T) {
	samples := measure.Samples{{7, 7}, {7}, {7, 7, 7}}
	got := measure.Bootstrap(len(samples), func(chosen []int) float64 { return samples.Percentile(99, chosen) })
	if want := (measure.Estimate{Value: 7, Low: 7, High: 7}); got != want {
		t.Errorf("got %v, want %v", got, want)
	}
}

// The interval of a median holds the true one about 95 times of 100, and gets narrower with more
// measurements.
func TestBootstrapCovers(t *testing.T) {
	const mean, runs = 100, 100
	covered, width := 0, map[int]float64{}
	for seed := range uint64(runs) {
		for _, each := range []int{2, 20} {
			samples := normal(seed, 15, each, mean, 10)
			got := measure.Bootstrap(len(samples), func(chosen []int) float64 { return samples.Percentile(50, chosen) })
			if got.Low > got.Value || got.Value > got.High {
				t.Fatalf("the interval of %v does not hold its value", got)
			}
			if each == 20 && got.Low <= mean && mean <= got.High {
				covered++
			}
			width[each] += (got.High - got.Low) / runs
		}
	}
	if covered < 88 {
		t.Errorf("the interval held the true median only %d times of %d", covered, runs)
	}
	if width[20] >= width[2]/2 {
		t.Errorf("average widths for 2 and 20 measurements in a block are %v", width)
	}
}

// Measurements of one block are not independent: blocks that differ make the interval wide, though
// each of them is certain.
func TestBootstrapDrawsBlocks(t *testing.T) {
	samples := measure.Samples{}
	for i := range 10 {
		samples = append(samples, make([]float64, 1000))
		for j := range samples[i] {
			samples[i][j] = float64(i)
		}
	}
	got := measure.Bootstrap(len(samples), func(chosen []int) float64 { return samples.Percentile(50, chosen) })
	if got.High-got.Low < 3 {
		t.Errorf("interval %v is too narrow", got)
	}
}

func TestRatio(t *testing.T) {
	for _, test := range []struct{ a, b, want float64 }{
		{20, 5, 4},
		{20, 0, measure.Unbounded},
		{20, -5, measure.Unbounded},
		{0, 5, 0},
		{-20, -5, 0},
	} {
		if got := measure.Ratio(test.a, test.b); got != test.want {
			t.Errorf("%v / %v is %v, want %v", test.a, test.b, got, test.want)
		}
	}
}

func TestFormat(t *testing.T) {
	figure := func(f float64) string { return fmt.Sprintf("%.1fx", f) }
	for want, estimate := range map[string]measure.Estimate{
		"1.0x to 2.5x":  {Value: 2, Low: 1, High: 2.5},
		"at least 1.0x": {Value: 2, Low: 1, High: measure.Unbounded},
	} {
		if got := estimate.Format(figure); got != want {
			t.Errorf("%v: got %q, want %q", estimate, got, want)
		}
	}
}
