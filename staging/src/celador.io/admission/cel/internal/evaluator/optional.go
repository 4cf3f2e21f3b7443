// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package evaluator

import (
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
)

// chain returns the closure for an attribute with optional selections or indexes, or with a base
// that may be an optional. From the first optional selection or index on, or from the start if the
// base is an optional, a selection or index that finds nothing ends the evaluation with
// optional.none() instead of an error. As in cel-go, each selection or index that finds a value
// costs one unit, and own is added at the end.
func (a *attribute) chain(own uint64) closure {
	base, selected, qualifiers := a.base, a.selected, a.qualifiers
	return func(f *frame) ref.Val {
		f.cost += selected
		value := base(f)
		optional, isOptional := value.(*types.Optional)
		if isOptional {
			// variables.x is a selection for cel-go, which does not look into an optional that a
			// selection returns. Decline, so that cel-go decides.
			if selected > 0 {
				return nil
			}
			if !optional.HasValue() {
				f.cost += own
				return optional
			}
			value = optional.GetValue()
		}
		for i := range qualifiers {
			if value = plainChained(value); value == nil {
				return nil
			}
			q := &qualifiers[i]
			key := q.constant
			if key == nil {
				if key = q.index(f); key == nil {
					return nil
				}
			}
			isOptional = isOptional || q.optional
			if !isOptional {
				f.cost++
				value = at(value, key)
				continue
			}
			found, ok := find(value, key)
			if !ok {
				return nil
			}
			if found == nil {
				f.cost += own
				return types.OptionalNone
			}
			f.cost++
			value = found
		}
		if value = plainChained(value); value == nil {
			return nil
		}
		f.cost += own
		if !isOptional {
			return value
		}
		return types.OptionalOf(value)
	}
}

// plainChained returns a value on the way through an attribute with optional selections. It returns
// nil to decline if the value is an error, an unknown or itself an optional.
func plainChained(v ref.Val) ref.Val {
	if _, nested := v.(*types.Optional); nested {
		return nil
	}
	return plain(v)
}

// find returns the value of a map for a key, the element of a list at an index, or nil if there is
// none. It returns false to decline: for errors, and for types that only cel-go supports.
func find(value, key ref.Val) (ref.Val, bool) {
	switch key.(type) {
	case types.String, types.Int:
	default:
		return nil, false
	}
	switch v := value.(type) {
	case traits.Mapper:
		found, ok := v.Find(key)
		if found != nil && types.IsUnknownOrError(found) {
			return nil, false
		}
		if !ok {
			return nil, true
		}
		return found, true
	case traits.Lister:
		i, isInt := key.(types.Int)
		size, sized := v.Size().(types.Int)
		if !isInt || !sized {
			return nil, false
		}
		if i < 0 || i >= size {
			return nil, true
		}
		return v.Get(key), true
	case traits.Indexer:
		return nil, false
	default:
		return nil, true
	}
}

// alternative plans or and orValue, which evaluate their second operand only if the first has no
// value. They have no cost of their own.
func alternative(first, second node, unwrap bool) node {
	maybe, other := first.eval, second.eval
	return node{eval: func(f *frame) ref.Val {
		optional, ok := maybe(f).(*types.Optional)
		switch {
		case !ok:
			return nil
		case !optional.HasValue():
			return other(f)
		case unwrap:
			return plain(optional.GetValue())
		default:
			return optional
		}
	}}
}

// none plans optional.none().
func none() node {
	return node{eval: func(f *frame) ref.Val {
		f.cost++
		return types.OptionalNone
	}}
}

// entry returns the value of an element, entry or field of a literal. It is value itself or, for an
// optional element such as [?x], the value that the optional holds. entry returns nil and true if
// the optional holds none and the literal leaves the element out. It returns false if the closures
// must leave the evaluation to cel-go.
func entry(value ref.Val, optional bool) (ref.Val, bool) {
	if !optional {
		return value, value != nil
	}
	o, ok := value.(*types.Optional)
	if !ok || !o.HasValue() {
		return nil, ok
	}
	return o.GetValue(), true
}
