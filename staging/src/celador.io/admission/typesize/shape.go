// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package typesize

import (
	"github.com/google/cel-go/common/types"
)

// shape is a type as far as its size is concerned. Shapes refer to each other: the tree that
// the type is for cel-go may be far larger than the graph.
type shape struct {
	kind types.Kind
	// name is that of a type with fields or of an opaque type.
	name string
	// parameters are empty for scalars and types with fields.
	parameters []*shape
	// bound is what a type parameter stands for, if that is known.
	bound *shape
	// seen is the last search that came across the shape.
	seen int
	// size is zero before it is measured.
	size Size
}

// dynamic is the shape of all that is only known at run time, or wrong.
var dynamic = &shape{kind: types.DynKind, size: scalar}

var boolean = &shape{kind: types.BoolKind, size: scalar}

func (s *shape) is(kind types.Kind) bool { return s.kind == kind }

// optional reports whether values are optional.
func (s *shape) optional() bool { return s.kind == types.OpaqueKind && s.name == optionalName }

var optionalName = types.NewOptionalType(types.DynType).TypeName()

func listOf(element *shape) *shape {
	return &shape{kind: types.ListKind, parameters: []*shape{element}}
}

func mapOf(key, value *shape) *shape {
	return &shape{kind: types.MapKind, parameters: []*shape{key, value}}
}

func optionalOf(value *shape) *shape {
	return &shape{kind: types.OpaqueKind, name: optionalName, parameters: []*shape{value}}
}

// unknown returns a type parameter that stands for nothing yet, such as the elements of [].
func unknown() *shape { return &shape{kind: types.TypeParamKind} }

// resolve returns what a type parameter stands for, or the shape itself.
func (s *shape) resolve() *shape {
	end := s
	for end.bound != nil {
		end = end.bound
	}
	for s != end {
		// The next search takes one step.
		s, s.bound = s.bound, end
	}
	return end
}

// measure returns the size of the tree. It must not be called before all type parameters are
// bound that will be.
func (s *shape) measure() Size {
	s = s.resolve()
	if s.size.Types == 0 {
		size := Size{Types: 1}
		for _, parameter := range s.parameters {
			size.add(parameter.measure())
		}
		s.size = size.around()
	}
	return s.size
}
