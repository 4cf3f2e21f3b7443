// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package crdinformer

// Len returns the number of generations of CustomResourceDefinitions whose expressions the cache
// holds.
func Len(e *ExpressionCache) int {
	e.lock.RLock()
	defer e.lock.RUnlock()
	return len(e.entries)
}
