// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package values

import (
	"sync/atomic"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
)

// A FieldName is the name of a field that an expression selects. It caches how the field is read in
// the first Go type that has it, which mostly is the only one: further lookups in structs of this
// type need no map. Safe for concurrent use.
type FieldName struct {
	// Val is the name as a CEL value.
	ref.Val
	first atomic.Pointer[field]
}

// NewFieldName returns the FieldName of a name.
func NewFieldName(name types.String) *FieldName { return &FieldName{Val: name} }

// of returns the field with the name in structs of the type that p describes, or nil if they do not
// have it.
func (n *FieldName) of(p *plan) *field {
	first := n.first.Load()
	if first != nil && first.of == p {
		return first
	}
	f := p.index[string(n.Val.(types.String))]
	if first == nil {
		n.first.Store(f)
	}
	return f
}
