// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package typesize

import (
	"github.com/google/cel-go/common/types"
)

// A shape is a type without the details that do not affect its size. Shapes share their parameters,
// so the graph may be far smaller than cel-go's tree of the type.
type shape struct {
	kind types.Kind
	// name is the name of a type with fields or of an opaque type.
	name string
	// parameters are empty for scalars and types with fields.
	parameters []*shape
	// bound is the shape that a type parameter is bound to, or nil.
	bound *shape
	// searched is the number of the last search by unifier.occurs that visited the shape.
	searched int
	// size is zero before measure is called.
	size Size
}

// dynamic is the shape of the type dyn and of ill-typed expressions.
var dynamic = &shape{kind: types.DynKind, size: scalar}

var boolean = &shape{kind: types.BoolKind, size: scalar}

// optional reports whether the shape is an optional type.
func (s *shape) optional() bool { return s.kind == types.OpaqueKind && s.name == optionalName }

var optionalName = types.NewOptionalType(types.DynType).TypeName()

// unbound returns an unbound type parameter, such as the element type of [].
func unbound() *shape { return &shape{kind: types.TypeParamKind} }

// resolve returns the shape that a type parameter is bound to, or the shape itself.
func (s *shape) resolve() *shape {
	end := s
	for end.bound != nil {
		end = end.bound
	}
	for s != end {
		// Shorten the chain for the next call.
		s, s.bound = s.bound, end
	}
	return end
}

// measure returns the size of the type as a tree. It caches the size, so it must be called only
// after inference has ended.
func (s *shape) measure() Size {
	s = s.resolve()
	if s.size.Types == 0 {
		size := Size{Types: 1}
		for _, parameter := range s.parameters {
			size.add(parameter.measure())
		}
		s.size = size.finish()
	}
	return s.size
}
