// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package stopwatch_test

import (
	"testing"
	"testing/synctest"
	"time"

	"celador.io/admission/internal/stopwatch"
)

func TestStopwatch(t *testing.T) {
	const work, other = time.Second, time.Minute
	for name, test := range map[string]struct {
		do   func(*stopwatch.Stopwatch)
		want time.Duration
	}{
		"first":       {func(s *stopwatch.Stopwatch) {}, work},
		"after a lap": {func(s *stopwatch.Stopwatch) { s.Start(); time.Sleep(other); s.Lap() }, work},
		// The caller measures all that follows a lap unless it stops the watch.
		"after unmeasured work":         {func(s *stopwatch.Stopwatch) { s.Start(); s.Lap(); time.Sleep(other) }, other + work},
		"after a stop":                  {func(s *stopwatch.Stopwatch) { s.Start(); s.Lap(); s.Stop(); time.Sleep(other) }, work},
		"after a cheap evaluation":      {func(s *stopwatch.Stopwatch) { s.Start(); time.Sleep(other); s.Skip(1000) }, other + work},
		"after an expensive evaluation": {func(s *stopwatch.Stopwatch) { s.Start(); time.Sleep(other); s.Skip(1001) }, work},
		"after cheap evaluations that are expensive together": {func(s *stopwatch.Stopwatch) {
			for range 3 {
				s.Start()
				time.Sleep(other)
				s.Skip(500)
			}
		}, work},
		"after a lap between cheap evaluations": {func(s *stopwatch.Stopwatch) {
			s.Start()
			s.Skip(600)
			s.Lap()
			time.Sleep(other)
			s.Skip(600)
		}, other + work},
		"skipping does not start": {func(s *stopwatch.Stopwatch) { s.Skip(1); time.Sleep(other) }, work},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &stopwatch.Stopwatch{}
				test.do(s)
				s.Start()
				time.Sleep(work)
				if got := s.Lap(); got != test.want {
					t.Errorf("got %v, want %v", got, test.want)
				}
			})
		})
	}
}
