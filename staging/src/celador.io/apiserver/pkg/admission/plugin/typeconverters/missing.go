// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package typeconverters

import (
	"sync"
	"time"
)

// missing records when requests first asked for a kind or group version that the server does not
// publish. A kind may be published a moment after it is served, so requests wait for it, but only
// until a fixed time after the first request for it. The zero value is empty. It is safe for
// concurrent use.
type missing struct{ requested sync.Map }

// firstRequested returns the time of the first call with the key.
func (m *missing) firstRequested(key any) time.Time {
	first, ok := m.requested.Load(key)
	if !ok {
		first, _ = m.requested.LoadOrStore(key, time.Now())
	}
	return first.(time.Time)
}

// deleteFunc deletes the entries for which remove returns true.
func (m *missing) deleteFunc(remove func(key any, first time.Time) bool) {
	m.requested.Range(func(key, first any) bool {
		if remove(key, first.(time.Time)) {
			m.requested.Delete(key)
		}
		return true
	})
}
