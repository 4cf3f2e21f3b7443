// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package structuredmerge

import (
	"bytes"
	"encoding/json"
	"reflect"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"sigs.k8s.io/structured-merge-diff/v6/schema"
)

// setScalar sets a field to the scalar v. It returns false if the schema does not allow the type of
// v, or the Go type cannot hold it.
func (m *merger) setScalar(s *scalarShape, into reflect.Value, v ref.Val) bool {
	switch v := v.(type) {
	case types.String:
		if !s.holds(schema.String) {
			return false
		}
		if s.plain && into.Kind() == reflect.String {
			m.changed = m.changed || into.String() != string(v)
			into.SetString(string(v))
			return true
		}
	case types.Bool:
		if !s.holds(schema.Boolean) {
			return false
		}
		if s.plain && into.Kind() == reflect.Bool {
			m.changed = m.changed || into.Bool() != bool(v)
			into.SetBool(bool(v))
			return true
		}
	case types.Int, types.Double:
		if !s.holds(schema.Numeric) {
			return false
		}
		if n, ok := v.(types.Int); ok && s.plain && into.CanInt() && !into.OverflowInt(int64(n)) {
			m.changed = m.changed || into.Int() != int64(n)
			into.SetInt(int64(n))
			return true
		}
	}
	return m.set(into, v.Value())
}

// holds reports whether the schema allows scalars of a type.
func (s *scalarShape) holds(scalar schema.Scalar) bool {
	return s.Scalar == scalar || s.Scalar == schema.Untyped
}

// equalsScalar reports whether a field has the value of a scalar. It serves to find a list element
// by its keys, or in a set. ok is false if field or scalar is neither a string nor a signed
// integer.
func equalsScalar(field reflect.Value, v ref.Val) (equal, ok bool) {
	switch v := v.(type) {
	case types.String:
		return field.Kind() == reflect.String && field.String() == string(v), field.Kind() == reflect.String
	case types.Int:
		return field.CanInt() && field.Int() == int64(v), field.CanInt()
	default:
		return false, false
	}
}

// set encodes a scalar as JSON and decodes a field from it, for fields whose Go type has an
// encoding of its own, and for values that setScalar cannot assign directly.
func (m *merger) set(into reflect.Value, scalar any) bool {
	decoded := reflect.New(into.Type())
	text, err := json.Marshal(scalar)
	if err != nil || json.Unmarshal(text, decoded.Interface()) != nil {
		return false
	}
	m.changed = m.changed || !sameInJSON(into.Addr().Interface(), decoded.Interface())
	into.Set(decoded.Elem())
	return true
}

// sameInJSON reports whether two values have the same JSON encoding. Merge compares encodings
// because a quantity changes the object even if only its format differs from that of an equal one.
func sameInJSON(a, b any) bool {
	before, err := json.Marshal(a)
	if err != nil {
		return false
	}
	after, err := json.Marshal(b)
	return err == nil && bytes.Equal(before, after)
}
