// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

// Package caches reads the caches of informers for the plugins of policies and of webhooks.
package caches

import "sync/atomic"

// Synced remembers that caches have synced, so that requests need not ask informers again: each
// answer takes a lock, and caches that have synced stay so. The zero value has seen no synced
// caches. Safe for concurrent use.
type Synced struct{ seen atomic.Bool }

// Seen reports whether Check has returned true.
func (s *Synced) Seen() bool { return s.seen.Load() }

// Check reports whether the caches have synced. It calls hasSynced until that returns true.
func (s *Synced) Check(hasSynced func() bool) bool {
	if s.seen.Load() {
		return true
	}
	if !hasSynced() {
		return false
	}
	s.seen.Store(true)
	return true
}
