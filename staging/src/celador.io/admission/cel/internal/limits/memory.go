// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package limits

import (
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
)

// checkSum returns an error if the result of l + r, which is not computed yet, would exceed a
// limit. It counts the memory of strings and bytes. checkSum itself does not allocate memory.
func checkSum(from MeterResolver, l, r ref.Val) error {
	switch l := l.(type) {
	case types.String:
		if r, ok := r.(types.String); ok {
			return countText(from, len(l)+len(r))
		}
	case types.Bytes:
		if r, ok := r.(types.Bytes); ok {
			return countText(from, len(l)+len(r))
		}
	case traits.Lister:
		if r, ok := r.(traits.Lister); ok {
			// A concatenation of lists is not counted, because cel-go does not copy the elements.
			return fitElements(sizeOf(l) + sizeOf(r))
		}
	}
	return nil
}

// countText counts the memory of a string or bytes value of the given size. It returns an error if
// a limit is exceeded.
func countText(from MeterResolver, bytes int) error {
	switch {
	case bytes > MaxText:
		return errText(bytes)
	case bytes <= smallText:
		return nil
	default:
		return meterOf(from).allocate(bytes)
	}
}

// CountElements counts the memory of a list, map or object literal with n elements, or n keys and
// values. It returns an error if a limit is exceeded.
func CountElements(from MeterResolver, n int) error {
	switch {
	case n > MaxElements:
		return errElements(n)
	case n <= smallList:
		return nil
	default:
		return meterOf(from).allocate(n * bytesPerElement)
	}
}

// countResult counts the memory of the result of a call. It returns an error if a limit is
// exceeded.
func countResult(from MeterResolver, v ref.Val) error {
	switch v := v.(type) {
	case types.String:
		return countText(from, len(v))
	case types.Bytes:
		return countText(from, len(v))
	case traits.Lister:
		return CountElements(from, sizeOf(v))
	case traits.Mapper:
		if n := sizeOf(v); n > smallList {
			return meterOf(from).allocate(n * bytesPerEntry)
		}
	}
	return nil
}
