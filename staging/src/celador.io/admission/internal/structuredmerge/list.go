// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package structuredmerge

import (
	"reflect"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"

	"celador.io/admission/cel/constructed"
	"celador.io/admission/cel/values"
)

// mergeList merges a list of the configuration into a list with keys or into a set, and appends new
// elements. It returns false where structured-merge-diff would reorder the result: if the
// configuration has existing elements in another order, or after new ones. An empty configuration
// list changes nothing. But if the existing list is empty, too, mergeList returns false, because
// structured-merge-diff turns an absent list into an empty one.
func (m *merger) mergeList(s *listShape, into reflect.Value, list traits.Lister, at place) bool {
	m.bytes += ScalarBytes
	_, literal := values.LiteralElements(list)
	size, ok := list.Size().(types.Int)
	if !ok {
		return false
	}
	n, existing := int(size), into.Len()
	if n == 0 {
		return existing > 0
	}
	at.literal = at.literal || literal
	copied := reflect.MakeSlice(into.Type(), existing, existing+n)
	reflect.Copy(copied, into)
	for i, last := 0, -1; i < n; i++ {
		m.bytes += SeparatorBytes
		element := list.Get(types.Int(i))
		position, ok := s.find(copied, element)
		if !ok || position <= last || position >= existing && position < copied.Len() {
			return false
		}
		last = position
		if position == copied.Len() {
			copied = reflect.Append(copied, reflect.Zero(into.Type().Elem()))
			m.changed = true
		}
		if !m.merge(s.element, copied.Index(position), element, at) {
			return false
		}
	}
	into.Set(copied)
	return true
}

// find returns the position of the list element that equals a scalar, or that has the same keys as
// an object. It returns the length of the list if there is none. ok is false if the result is not
// certain: several elements match, the element has no keys, or a key is absent or zero, so that a
// default of the schema may apply.
func (s *listShape) find(list reflect.Value, element ref.Val) (position int, ok bool) {
	object, isObject := element.(*constructed.Object)
	if isObject != (len(s.keys) > 0) {
		return 0, false
	}
	var fields map[string]ref.Val
	if isObject {
		fields = object.Fields()
	}
	for _, key := range s.keys {
		if v := fields[key.name]; v == types.String("") || v == types.IntZero || !isTextOrInteger(v) {
			return 0, false
		}
	}
	position = list.Len()
	for i := range list.Len() {
		candidate := list.Index(i)
		equal, ok := true, true
		if !isObject {
			equal, ok = equalsScalar(candidate, element)
		}
		for _, key := range s.keys {
			field := candidate.FieldByIndex(key.index)
			same, comparable := equalsScalar(field, fields[key.name])
			equal, ok = equal && same, ok && comparable && !field.IsZero()
		}
		if !ok || equal && position < list.Len() {
			return 0, false
		}
		if equal {
			position = i
		}
	}
	return position, true
}

func isTextOrInteger(v ref.Val) bool {
	switch v.(type) {
	case types.String, types.Int:
		return true
	default:
		return false
	}
}
