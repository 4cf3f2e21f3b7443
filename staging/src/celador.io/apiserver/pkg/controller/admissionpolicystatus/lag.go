// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package admissionpolicystatus

import (
	"errors"
	"time"
)

const (
	// quiet is how long a policy must stay unchanged before the next check, if it changed soon
	// after the last one.
	quiet = 2 * time.Second
	// maxLag bounds the time between two checks of a policy that changes again and again, and so is
	// never quiet for long enough.
	maxLag = time.Minute
)

// errTooEarly reports that the check of a policy is delayed and enqueued. The delay does not reset
// the number of retries: the status of a policy that keeps changing would otherwise never report
// that types are unavailable.
var errTooEarly = errors.New("the policy has changed soon after a check")

// lag holds the times of the last check of a policy and of the changes since. To check a policy and
// to write its status takes several times as much CPU time as to put the policy into effect, so the
// controller does not do it for each of many changes. It is used only by the worker that syncs the
// policy.
type lag struct {
	checked time.Time
	// generation is the newest generation that waits for a check, and seen the time when the
	// controller first saw it. generation is 0 if none waits.
	generation int64
	seen       time.Time
	// enqueue is the timer that enqueues the policy at the end of the delay. It is nil until a
	// check is delayed for the first time.
	enqueue *time.Timer
}

// untilCheck returns how long the check of a generation has to wait. If it is not positive, the
// policy can be checked at once.
func (l *lag) untilCheck(generation int64) time.Duration {
	now := time.Now()
	if l.generation == 0 && now.Sub(l.checked) >= quiet {
		return 0
	}
	if l.generation != generation {
		l.generation, l.seen = generation, now
	}
	return min(l.seen.Add(quiet).Sub(now), l.checked.Add(maxLag).Sub(now))
}

// delay calls enqueue after wait, instead of any earlier call that is still to come. A queue's
// AddAfter would count each delay as a retry in the metrics of the queue.
func (l *lag) delay(wait time.Duration, enqueue func()) {
	if l.enqueue == nil {
		l.enqueue = time.AfterFunc(wait, enqueue)
	} else {
		l.enqueue.Reset(wait)
	}
}

// delayed reports whether the check of the policy has to wait. If so, it enqueues the policy for
// the end of the delay. A change of a policy that needs a verdict to decide is checked at once, and
// so is a change of types unless the policy waits for a check.
func (c *Controller) delayed(p *policy) bool {
	last, known := c.reports.Load(p.key())
	if !known || p.enforced() {
		return false
	}
	r, k := last.(*report), p.key()
	if r.uid != p.UID || r.generation == p.Generation {
		return false
	}
	wait := r.lag.untilCheck(p.Generation)
	if wait <= 0 {
		return false
	}
	r.lag.delay(wait, func() { c.queue.Add(k) })
	return true
}
