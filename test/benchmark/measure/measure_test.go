// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package measure_test

import (
	"errors"
	"math"
	"slices"
	"testing"
	"time"

	"celador.io/celador/test/benchmark/measure"
)

func TestAlternate(t *testing.T) {
	var calls []string
	record := func(name string) func() error {
		return func() error {
			calls = append(calls, name)
			return nil
		}
	}
	costs, err := measure.Alternate(measure.Effort{Rounds: 2}, record("a"), record("b"))
	if err != nil {
		t.Fatal(err)
	}
	// Once to calibrate, then in turns.
	if want := []string{"a", "b", "a", "b", "a", "b"}; !slices.Equal(calls, want) {
		t.Errorf("called %q, want %q", calls, want)
	}
	if len(costs) != 2 {
		t.Errorf("%d costs of two functions", len(costs))
	}
}

func TestAlternateError(t *testing.T) {
	for _, until := range []int{1, 2, 3} { // calibration and both rounds
		calls, broken := 0, errors.New("broken")
		_, err := measure.Alternate(measure.Effort{Rounds: 2}, func() error {
			if calls++; calls == until {
				return broken
			}
			return nil
		})
		if !errors.Is(err, broken) || calls != until {
			t.Errorf("an error in call %d: got error %v after %d calls", until, err, calls)
		}
	}
}

var sink []byte

func TestAlternateAllocations(t *testing.T) {
	const size = 1 << 20
	costs, err := measure.Alternate(measure.Effort{Rounds: 5},
		func() error { sink = make([]byte, size); return nil },
		func() error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	if got := costs[0]; got.Bytes < size || got.Bytes > 2*size || got.Allocations < 1 || got.Nanoseconds <= 0 {
		t.Errorf("allocating %d bytes costs %+v", size, got)
	}
	if got := costs[1]; got.Bytes >= size {
		t.Errorf("doing nothing costs %+v", got)
	}
}

func TestAlternateRepeats(t *testing.T) {
	calls := 0
	if _, err := measure.Alternate(measure.Effort{Rounds: 1, Round: time.Millisecond}, func() error { calls++; return nil }); err != nil {
		t.Fatal(err)
	}
	if calls < 10 {
		t.Errorf("only %d calls of a function that does nothing", calls)
	}
}

func TestPercentile(t *testing.T) {
	hundred := make([]float64, 100)
	for i := range hundred {
		hundred[i] = float64(100 - i)
	}
	for _, test := range []struct {
		values  []float64
		p, want float64
	}{
		{[]float64{7}, 50, 7},
		{[]float64{7}, 99, 7},
		{[]float64{3, 1, 2}, 50, 2},
		{[]float64{4, 3, 1, 2}, 25, 1},
		{[]float64{4, 3, 1, 2}, 50, 2},
		{hundred, 50, 50},
		{hundred, 99, 99},
		{hundred, 100, 100},
		{hundred, 0, 1},
	} {
		if got := measure.Percentile(test.values, test.p); got != test.want {
			t.Errorf("percentile %v of %v is %v, want %v", test.p, test.values, got, test.want)
		}
	}
	if got := measure.Percentile(nil, 50); !math.IsNaN(got) {
		t.Errorf("percentile of nothing is %v", got)
	}
}
