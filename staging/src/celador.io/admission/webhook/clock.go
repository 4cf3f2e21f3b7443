// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package webhook

import "time"

// clock measures the evaluations of one request. If one follows the other, the end of the first is also the
// start of the second, because reading the time takes as long as a simple match condition. The zero value is stopped.
type clock struct {
	// base is the first start, and last the time of the last lap after it.
	base time.Time
	last time.Duration
	// runs is unset if other work follows the last lap.
	runs bool
}

// start begins an evaluation.
func (c *clock) start() {
	switch {
	case c.runs:
	case c.base.IsZero():
		c.base = time.Now()
	default:
		c.last = time.Since(c.base)
	}
	c.runs = true
}

// lap returns the time since the start or the last lap.
func (c *clock) lap() time.Duration {
	now := time.Since(c.base)
	elapsed := now - c.last
	c.last = now
	return elapsed
}

// stop makes the next start read the time.
func (c *clock) stop() { c.runs = false }
