// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package evaluator

import (
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
)

// scalars returns the elements of a list as a set. A number is in the set in each numeric type,
// such as 1, 1u and 1.0, in which cel-go considers it equal, so that values of all types are found.
// It returns false if an element is not a scalar.
func scalars(list ref.Val) (map[ref.Val]struct{}, bool) {
	l, ok := list.(traits.Lister)
	if !ok {
		return nil, false
	}
	members := map[ref.Val]struct{}{}
	for it := l.Iterator(); it.HasNext() == types.True; {
		member := it.Next()
		switch member.(type) {
		case types.Bool, types.String:
			members[member] = struct{}{}
		case types.Int, types.Uint, types.Double:
			members[member] = struct{}{}
			for _, other := range []ref.Type{types.IntType, types.UintType, types.DoubleType} {
				form := member.ConvertToType(other)
				_, isDouble := member.(types.Double)
				// As in cel-go, the set has an int or a uint in the other numeric types even if the
				// conversion rounds it, but a double only if the converted value equals it.
				if !types.IsError(form) && (!isDouble || form.Equal(member) == types.True) {
					members[form] = struct{}{}
				}
			}
		default:
			return nil, false
		}
	}
	return members, true
}
