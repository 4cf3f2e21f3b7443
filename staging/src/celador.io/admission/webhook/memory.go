// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"sync"

	"celador.io/admission/cel/values"
	"celador.io/admission/internal/activation"
)

// conditionMemory is what the evaluation of a request's match conditions allocates. A pool passes
// it from one request to the next. Not safe for concurrent use.
type conditionMemory struct {
	input  activation.Input
	values values.Memory
	series activation.Series
}

var conditionMemories = sync.Pool{New: func() any { return &conditionMemory{} }}

// free drops all references to the request, and makes the memory available to other requests.
func (m *conditionMemory) free() {
	m.series.Clear()
	m.input.Free()
	m.input = activation.Input{}
	m.values.Clear()
	conditionMemories.Put(m)
}
