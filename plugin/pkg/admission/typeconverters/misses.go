// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package typeconverters

import (
	"sync"
	"time"
)

// misses has the times at which something that is missing was first asked for, so that not
// each request waits for it. The zero value is empty. Safe for concurrent use.
type misses struct{ first sync.Map }

// since returns now for what was not asked for before.
func (m *misses) since(what any) time.Time {
	first, ok := m.first.Load(what)
	if !ok {
		first, _ = m.first.LoadOrStore(what, time.Now())
	}
	return first.(time.Time)
}

// forget forgets what gone is true for.
func (m *misses) forget(gone func(what any, first time.Time) bool) {
	m.first.Range(func(what, first any) bool {
		if gone(what, first.(time.Time)) {
			m.first.Delete(what)
		}
		return true
	})
}
