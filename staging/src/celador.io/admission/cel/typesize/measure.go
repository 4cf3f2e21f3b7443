// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package typesize

import (
	"github.com/google/cel-go/cel"
)

// A Size is the size of a type.
type Size struct {
	// Types is the number of types that the type consists of, including itself: list(int) consists
	// of two.
	Types int
	// Work is proportional to the memory that cel-go allocates to copy the type. For each type
	// in the tree, cel-go formats the whole subtree, so Work is cubic in the depth of nested
	// lists.
	Work int
	// text is proportional to the work of formatting the type once.
	text int
}

// scalar is the size of a type without parameters.
var scalar = Size{Types: 1, Work: 1, text: 1}

// Of returns the size of a type. It stops measuring when Types exceeds MaxType, so larger sizes are
// not exact.
func Of(t *cel.Type) Size {
	s := Size{Types: 1}
	for _, parameter := range t.Parameters() {
		if s.Types > MaxType {
			break
		}
		s.add(Of(parameter))
	}
	return s.finish()
}

// maxSize is the value at which sizes stop growing. It exceeds all limits, and adding two of it
// does not overflow.
const maxSize = 1 << 30

// add adds the size of a type parameter.
func (s *Size) add(parameter Size) {
	s.Types = min(s.Types+parameter.Types, maxSize)
	s.text = min(s.text+parameter.text, maxSize)
	s.Work = min(s.Work+parameter.Work, maxSize)
}

// finish returns the size of a type to which the sizes of all parameters have been added.
func (s Size) finish() Size {
	s.text = min(s.text+s.Types, maxSize)
	s.Work = min(s.Work+s.text, maxSize)
	return s
}
