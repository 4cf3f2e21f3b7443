// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package typesize

import (
	"github.com/google/cel-go/cel"
)

// Size is the size of a type.
type Size struct {
	// Types is of how many types it is made, itself included: list(int) is made of two.
	Types int
	// Work is in proportion to what cel-go allocates to copy the type. For each of the types
	// that it is made of, cel-go writes the text of all that this is made of, from the inside
	// out. That is cubic for lists in lists.
	Work int
	// text is in proportion to what it takes to write the text of the type.
	text int
}

// scalar is the size of a type that is not made of others.
var scalar = Size{Types: 1, Work: 1, text: 1}

// Of returns the size of a type. That of a type that is made of more than MaxType types is
// larger than MaxType, too.
func Of(t *cel.Type) Size {
	s := Size{Types: 1}
	for _, parameter := range t.Parameters() {
		if s.Types > MaxType {
			break
		}
		s.add(Of(parameter))
	}
	return s.around()
}

// maxSize is more than any limit and may be added to itself.
const maxSize = 1 << 30

// add adds the size of a parameter to that of the types that a type is made of.
func (s *Size) add(parameter Size) {
	s.Types = min(s.Types+parameter.Types, maxSize)
	s.text = min(s.text+parameter.text, maxSize)
	s.Work = min(s.Work+parameter.Work, maxSize)
}

// around returns the size of a type, to which those of all of its parameters were added.
func (s Size) around() Size {
	s.text = min(s.text+s.Types, maxSize)
	s.Work = min(s.Work+s.text, maxSize)
	return s
}
