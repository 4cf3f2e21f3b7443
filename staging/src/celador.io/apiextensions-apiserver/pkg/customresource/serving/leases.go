// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package serving

import "sync/atomic"

// closing is a bit in the state of leases. When it is set, no lease can be taken.
const closing = 1 << 62

// leases counts the requests that use a ServedResource, without a lock. Unlike a sync.WaitGroup,
// leases refuse new requests once they are closed, and waiting for their end needs no goroutine.
type leases struct {
	state atomic.Int64 // the number of leases, and closing
	ended chan struct{}
}

func newLeases() *leases { return &leases{ended: make(chan struct{})} }

// take adds a lease. It returns false if the leases are closed.
func (l *leases) take() bool {
	for {
		state := l.state.Load()
		if state&closing != 0 {
			return false
		}
		if l.state.CompareAndSwap(state, state+1) {
			return true
		}
	}
}

// giveBack removes a lease that take has added.
func (l *leases) giveBack() {
	if l.state.Add(-1) == closing {
		close(l.ended)
	}
}

// close refuses all later leases, and returns a channel that is closed as soon as the leases taken
// before have been given back. It may be called more than once.
func (l *leases) close() <-chan struct{} {
	if l.state.Or(closing) == 0 {
		close(l.ended)
	}
	return l.ended
}
