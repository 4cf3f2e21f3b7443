// Copyright 2026 The Celador Authors.
// SPDX-License-Identifier: Apache-2.0

package values

import (
	"reflect"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"google.golang.org/protobuf/types/known/structpb"
)

// jsonValueType is the type of CEL values converted to JSON.
var jsonValueType = reflect.TypeFor[*structpb.Value]()

// Unstructured deep-copies a view that Of returned (see IsTyped) into maps, lists and scalars, as
// an unstructured object has them. It returns an error if a part has no JSON form.
func Unstructured(v ref.Val) (ref.Val, error) {
	content, err := unstructured(reflect.ValueOf(v.Value()))
	if err != nil {
		return nil, err
	}
	return types.DefaultTypeAdapter.NativeToValue(content), nil
}

// IsTyped reports whether a value is a view that Of returned, and not one that OfUnstructured or
// Schema.Value returned. Such a view converts to JSON with everything in it.
func IsTyped(v ref.Val) bool {
	switch v.(type) {
	case *listValue, *mapValue, *structValue:
		return true
	default:
		return false
	}
}

// A view shows a Go value to CEL. The value is a tree, which contains no part twice.
type view interface {
	ref.Val
	// data returns the Go value. It fills no cache of the view.
	data() any
}

func (l *listValue) data() any        { return l.object.Interface() }
func (m *mapValue) data() any         { return m.object.Interface() }
func (s *structValue) data() any      { return s.object.Interface() }
func (l *unstructuredList) data() any { return l.typed.data() }
func (m *unstructuredMap) data() any  { return m.typed.(view).data() }
func (l *schemaList) data() any       { return l.elements }
func (m *schemaMap) data() any        { return m.entries }

// IsView reports whether a value is a view that Of, OfUnstructured or Schema.Value returned.
func IsView(v ref.Val) bool {
	_, ok := v.(view)
	return ok
}

// Data returns the Go value that a view reads, and false for values that are not views. It fills no
// cache of the view.
func Data(v ref.Val) (any, bool) {
	if v, ok := v.(view); ok {
		return v.data(), true
	}
	return nil, false
}

func jsonValue(object reflect.Value) (any, error) {
	content, err := unstructured(object)
	if err != nil {
		return nil, err
	}
	return types.DefaultTypeAdapter.NativeToValue(content).ConvertToNative(jsonValueType)
}
