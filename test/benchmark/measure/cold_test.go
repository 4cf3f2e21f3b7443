// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package measure_test

import (
	"errors"
	"slices"
	"testing"

	"celador.io/celador/test/benchmark/measure"
)

func TestCold(t *testing.T) {
	var calls []string
	record := func(name string) func() error {
		return func() error {
			calls = append(calls, name)
			return nil
		}
	}
	medians, err := measure.Cold(2, record("a"), record("b"))
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"a", "b", "a", "b"}; !slices.Equal(calls, want) {
		t.Errorf("called %q, want %q", calls, want)
	}
	if len(medians) != 2 || medians[0] <= 0 || medians[1] <= 0 {
		t.Errorf("medians are %v", medians)
	}
	broken := errors.New("broken")
	if _, err := measure.Cold(1, func() error { return broken }); !errors.Is(err, broken) {
		t.Errorf("got error %v", err)
	}
}
