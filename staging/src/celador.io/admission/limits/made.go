// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package limits

import (
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
)

// sum returns an error if the sum of two values is too large. It allocates nothing.
func sum(from Source, l, r ref.Val) error {
	switch l := l.(type) {
	case types.String:
		if r, ok := r.(types.String); ok {
			return makeText(from, len(l)+len(r))
		}
	case types.Bytes:
		if r, ok := r.(types.Bytes); ok {
			return makeText(from, len(l)+len(r))
		}
	case traits.Lister:
		if r, ok := r.(traits.Lister); ok {
			// A list shows the sum of two without copying them.
			return fitElements(sizeOf(l) + sizeOf(r))
		}
	}
	return nil
}

func makeText(from Source, bytes int) error {
	switch {
	case bytes > MaxText:
		return errText(bytes)
	case bytes <= free:
		return nil
	default:
		return meterOf(from).make(bytes)
	}
}

func makeElements(from Source, n int) error {
	switch {
	case n > MaxElements:
		return errElements(n)
	case n <= smallList:
		return nil
	default:
		return meterOf(from).make(n * bytesPerElement)
	}
}

// made counts the memory of a value that a call made. It returns an error if there is too much.
func made(from Source, v ref.Val) error {
	switch v := v.(type) {
	case types.String:
		return makeText(from, len(v))
	case types.Bytes:
		return makeText(from, len(v))
	case traits.Lister:
		return makeElements(from, sizeOf(v))
	case traits.Mapper:
		if n := sizeOf(v); n > smallList {
			return meterOf(from).make(n * bytesPerEntry)
		}
	}
	return nil
}

// Literal counts the memory of a list, map or object that an expression constructs of so many parts.
func Literal(from Source, parts int) error { return makeElements(from, parts) }

// IsLarge reports whether Literal has to be called for a literal of so many parts.
func IsLarge(parts int) bool { return parts > smallList }
