// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package intern

// Len returns the number of entries, which may include collected values. It is at most a small
// multiple of the number of values in use.
func (p *Pool[K, V]) Len() int {
	p.lock.Lock()
	defer p.lock.Unlock()
	return len(p.values)
}
